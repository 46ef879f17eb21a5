// ChildImage: all that a new process needs, frozen as plain data before the clone.
//
// Between clone and exec nothing may allocate, lock or run destructors: the child shares our memory (CLONE_VM). So the
// child only reads this image, and every pointer in it points to memory that lives until the start has returned.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <cstddef>
#include <type_traits>

#include "forklift/outcome.hpp"

namespace forklift {

struct ChildImage {
  const char* executable = nullptr;         ///< What execve gets.
  const char* const* argv = nullptr;        ///< Ends in nullptr.
  const char* const* envp = nullptr;        ///< Ends in nullptr.
  const char* working_directory = nullptr;  ///< nullptr: stay.
  /// Sources of descriptors 0, 1, 2: either the number itself (inherited as it is) or a number above 2.
  int standard_streams[3] = {0, 1, 2};
  pid_t launcher = 0;                   ///< Who must be our parent; if it is not, it has died and so do we.
  const cpu_set_t* affinity = nullptr;  ///< nullptr: the launcher's own.
  std::size_t affinity_bytes = 0;
  const rlimit* open_files = nullptr;  ///< The limit the launcher itself was given; nullptr: unchanged.
  const int* inherited = nullptr;      ///< Descriptors above 2 that the program gets, at the same numbers.
  std::size_t inherited_count = 0;
  int foreground_of = -1;  ///< Terminal whose foreground group the child becomes; -1: none.
  sigset_t signal_mask{};  ///< The mask the launcher itself was given.
};

static_assert(std::is_trivially_destructible_v<ChildImage> && std::is_standard_layout_v<ChildImage>);

/// What a child says about its failed start; written in place (shared memory) or sent through a pipe.
struct ChildFailure {
  StartStep step = StartStep::execute;
  int os_errno = 0;  ///< 0: no failure.
};

static_assert(std::is_trivially_copyable_v<ChildFailure>);

}  // namespace forklift
