// What a bench runs as a replica:
//   bench_replica crash RANK UP GO   says that it is up; RANK then waits for GO and dies of SIGSEGV, the others wait
//   bench_replica idle UP            says that it is up and waits until it is killed
//   bench_replica write BYTES        prints about so many bytes in lines of 80, in blocks of 64 KiB
// UP and GO are the named pipes of support/muster.hpp.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>

namespace {

constexpr int usage = 2;
constexpr int broken = 3;

/// One record of the muster: 0 for "up", else the time of the crash.
void tell(int up, std::int64_t record) {
  if (::write(up, &record, sizeof record) != sizeof record) ::_exit(broken);
}

std::int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

[[noreturn]] void wait_for_the_end() {
  while (true) ::pause();
}

int crash(std::string_view rank, const char* up_path, const char* go_path) {
  const int up = ::open(up_path, O_WRONLY | O_CLOEXEC);
  const char* own_rank = std::getenv("RANK");
  if (up < 0 || own_rank == nullptr) return broken;
  tell(up, 0);
  if (rank != own_rank) wait_for_the_end();
  const int go = ::open(go_path, O_RDONLY | O_CLOEXEC);
  char byte = 0;
  if (::read(go, &byte, 1) != 1) return broken;
  tell(up, monotonic_ns());
  ::raise(SIGSEGV);
  return broken;
}

int idle(const char* up_path) {
  const int up = ::open(up_path, O_WRONLY | O_CLOEXEC);
  if (up < 0) return broken;
  tell(up, 0);
  ::close(up);
  wait_for_the_end();
}

int write_lines(std::size_t bytes) {
  constexpr std::size_t line = 80;
  constexpr std::size_t block_size = std::size_t{64} << 10;
  std::string block;
  while (block.size() + line <= block_size) block += std::string(line - 1, 'x') + '\n';
  for (std::size_t written = 0; written < bytes; written += block.size()) {
    for (std::string_view rest = block; !rest.empty();) {
      const ssize_t taken = ::write(STDOUT_FILENO, rest.data(), rest.size());
      if (taken < 0) return broken;
      rest.remove_prefix(static_cast<std::size_t>(taken));
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (verb == "crash" && argc == 5) return crash(argv[2], argv[3], argv[4]);
  if (verb == "idle" && argc == 3) return idle(argv[2]);
  if (verb == "write" && argc == 3) return write_lines(std::strtoull(argv[2], nullptr, 10));
  return usage;
}
