#include "launcher/system/process_title.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

namespace forklift {
namespace {

struct CommandLine {
  char* begin = nullptr;
  std::size_t size = 0;
};
CommandLine command_line;  // Written once by main(), before anything else runs.

}  // namespace

void remember_command_line(int argc, char** argv) {
  if (argc < 1) return;
  char* end = argv[0];
  // The kernel lays the words out one after another; stop where that does not hold.
  for (int word = 0; word < argc && argv[word] == end; ++word) end += std::strlen(argv[word]) + 1;
  command_line = {argv[0], static_cast<std::size_t>(end - argv[0])};
}

void set_process_title(std::string_view title) {
  ::prctl(PR_SET_NAME, std::string(title.substr(0, 15)).c_str());
  if (command_line.size == 0) return;
  const std::size_t shown = std::min(title.size(), command_line.size - 1);
  std::memset(command_line.begin, 0, command_line.size);
  std::memcpy(command_line.begin, title.data(), shown);
}

}  // namespace forklift
