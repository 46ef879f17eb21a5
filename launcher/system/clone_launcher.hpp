// A launcher for Boost.Process v2: its extension point (a functor that returns a basic_process) and its initializer
// protocol (on_setup, on_exec_setup, on_success), over start_process(). Boost 1.81's own launchers are not used: they
// copy page tables, re-register every descriptor in the child, lose errors and leave zombies (one test each in
// tests/system).
//
// One instance may start any number of processes, one after another. One thread.
#pragma once

#include <unistd.h>

#include <boost/process/v2/posix/default_launcher.hpp>
#include <boost/process/v2/process.hpp>
#include <cerrno>
#include <tuple>
#include <utility>

#include "launcher/system/new_process.hpp"

namespace forklift {

struct clone_launcher : boost::process::v2::posix::default_launcher {
  /// After a start: the process's own pidfd, to be taken by whoever reaps it.
  Descriptor pidfd;
  /// After a failed start: which step failed. An initializer that fails in the child sets it before it returns.
  StartStep failed_step = StartStep::execute;
  /// The child has the descriptors below, and no others (start_process). An initializer may lower it in on_setup.
  int descriptors_below = all_descriptors;

  /// Boost's protocol: `argv` ends in nullptr and lives until the call returns. On error nothing is left running and
  /// nothing to reap.
  template <typename Executor, typename... Initializers>
  auto operator()(Executor executor, boost::system::error_code& error, const boost::filesystem::path& executable,
                  const char* const* argv, Initializers&&... initializers)
      -> boost::process::v2::basic_process<Executor> {
    using Process = boost::process::v2::basic_process<Executor>;
    start(error, executable, argv, initializers...);
    return error ? Process(executor) : adopt<Process>(executor, error);
  }

  /// The same without a basic_process, whose copy of the pidfd nobody would use: `pid` and `pidfd` are the caller's.
  template <typename... Initializers>
  void start(boost::system::error_code& error, const boost::filesystem::path& executable, const char* const* argv,
             Initializers&&... initializers) {
    namespace detail = boost::process::v2::posix::detail;
    error = detail::on_setup(*this, executable, argv, initializers...);
    if (error) {
      failed_step = StartStep::prepare;
      return;
    }

    // Everything that the child touches, behind one pointer. It runs in our memory, so nothing of it is copied.
    auto child = [&]() noexcept -> ChildFailure {
      failed_step = StartStep::prepare;
      const boost::system::error_code failed = detail::on_exec_setup(*this, executable, argv, initializers...);
      if (failed) return {failed_step, failed.value() != 0 ? failed.value() : EINVAL};
      ::execve(executable.c_str(), const_cast<char* const*>(argv), const_cast<char* const*>(env));
      return {StartStep::execute, errno};
    };
    using Child = decltype(child);
    NewProcess process =
        start_process([](void* body) noexcept { return (*static_cast<Child*>(body))(); }, &child, descriptors_below);
    if (process.failure.os_errno != 0) {
      failed_step = process.failure.step;
      error.assign(process.failure.os_errno, boost::system::system_category());
      return;
    }
    pid = process.pid;
    pidfd = std::move(process.pidfd);
    detail::on_success(*this, executable, argv, initializers...);
  }

 private:
  /// Boost registers its own copy of the pidfd with the reactor, which may throw (no descriptors, no memory): then the
  /// process, which already runs, must not be left behind.
  template <typename Process, typename Executor>
  Process adopt(Executor executor, boost::system::error_code& error) {
    Descriptor copy(::fcntl(pidfd.get(), F_DUPFD_CLOEXEC, 3));
    if (copy.valid()) {
      try {
        Process process(executor, pid, copy.get());
        std::ignore = copy.release();
        return process;
      } catch (const boost::system::system_error& refused) {
        error = refused.code();
      }
    } else {
      error.assign(errno, boost::system::system_category());
    }
    failed_step = StartStep::clone;
    end_unadopted(pid);
    pidfd.close();
    return Process(executor);
  }
};

}  // namespace forklift
