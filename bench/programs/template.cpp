// What a bench runs as a template:
//   bench_template_program fork              its fork point, and nothing after it
//   bench_template_program bare N            the limit: the same program forks N times and waits for all
//   bench_template_program hold FILE UP GO   maps FILE and reads it once; each replica says when it began, rank 0 of
//                                            every attempt then waits for GO and dies of SIGSEGV, the others wait
// UP and GO are the named pipes of support/muster.hpp.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "forklift/worker.hpp"

namespace {

constexpr int usage = 2;
constexpr int broken = 3;

std::int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

int fork_and_wait(int count) {
  for (int i = 0; i < count; ++i) {
    const pid_t pid = ::fork();
    if (pid < 0) return broken;
    if (pid == 0) std::exit(0);  // As a replica ends.
  }
  bool succeeded = true;
  int status = 0;
  while (::wait(&status) > 0) succeeded = succeeded && status == 0;
  return succeeded ? 0 : broken;
}

/// Every page of it is in this process's page tables.
bool hold(const char* path) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  struct stat about {};
  if (file < 0 || ::fstat(file, &about) != 0) return false;
  const auto size = static_cast<std::size_t>(about.st_size);
  return ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0) != MAP_FAILED;
}

int run_and_crash(const char* up_path, const char* go_path, std::int64_t began_ns, int rank) {
  const int up = ::open(up_path, O_WRONLY | O_CLOEXEC);
  const auto tell = [up](std::int64_t record) {
    if (::write(up, &record, sizeof record) != sizeof record) ::_exit(broken);
  };
  tell(began_ns);
  while (rank != 0) ::pause();
  const int go = ::open(go_path, O_RDONLY | O_CLOEXEC);
  char byte = 0;
  if (::read(go, &byte, 1) != 1) return broken;
  tell(monotonic_ns());
  ::raise(SIGSEGV);
  return broken;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (verb == "bare" && argc == 3) return fork_and_wait(std::atoi(argv[2]));
  if (verb == "fork" && argc == 2) {
    forklift::fork_point();
    return 0;
  }
  if (verb == "hold" && argc == 5) {
    if (!hold(argv[2])) return broken;
    const forklift::Replica& self = forklift::fork_point();
    return run_and_crash(argv[3], argv[4], monotonic_ns(), self.rank());
  }
  return usage;
}
