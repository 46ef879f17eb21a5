#include "worker/host/find_binary.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace forklift {
namespace {

bool is_program(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

std::string in_path() {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const auto colon = std::min(rest.find(':'), rest.size());
    const std::string candidate = std::string(rest.substr(0, colon)) + "/forklift";
    if (colon > 0 && is_program(candidate)) return candidate;
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return {};
}

}  // namespace

Result<std::string> find_forklift_binary(const std::string& asked) {
  const char* variable = std::getenv("FORKLIFT_BINARY");
  for (const std::string& wish : {asked, std::string(variable == nullptr ? "" : variable)}) {
    if (wish.empty()) continue;
    if (is_program(wish)) return wish;
    return Error{ErrorKind::not_found, "the forklift binary " + wish + " is not there or not executable"};
  }
  if (is_program(FORKLIFT_INSTALLED_BINARY)) return std::string(FORKLIFT_INSTALLED_BINARY);
  if (std::string found = in_path(); !found.empty()) return found;
  return Error{
      ErrorKind::not_found,
      "the forklift binary, which supervises the replicas, was not found: neither as " FORKLIFT_INSTALLED_BINARY
      " nor in PATH; FORKLIFT_BINARY may name it"};
}

}  // namespace forklift
