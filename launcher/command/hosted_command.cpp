// `forklift hosted-guard` and `forklift hosted-supervisor`: the two processes that guard each other, executed by a host
// program that has forked them (include/forklift/notebook_launcher.hpp). Words: the library's version, then descriptors
// and pids by number.
#include <fcntl.h>
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <optional>
#include <utility>

#include "forklift/version.hpp"
#include "launcher/command/verbs.hpp"
#include "launcher/launch.hpp"
#include "launcher/request/parse_launch.hpp"
#include "launcher/supervise/supervisor.hpp"
#include "launcher/system/guard.hpp"
#include "launcher/system/run_directory.hpp"
#include "launcher/system/run_history.hpp"
#include "worker/control_socket.hpp"

namespace forklift::command {
namespace {

/// `count` numbers after the version; empty if one is none.
std::optional<std::vector<int>> numbers_of(const Call& call, std::size_t count) {
  if (call.words.size() < count + 1) return std::nullopt;
  std::vector<int> numbers;
  for (std::size_t i = 1; i <= count; ++i) {
    const std::string& word = call.words[i];
    int number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || end != word.data() + word.size() || number < 0) return std::nullopt;
    numbers.push_back(number);
  }
  return numbers;
}

/// From here on nothing that we start inherits it.
int kept_to_ourselves(int descriptor) {
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return descriptor;
}

int called_by_hand(const char* verb) {
  return fail(
      {ErrorKind::usage, fmt::format("{} is executed by host programs (notebook_launcher), not by hand", verb)});
}

/// The job was not started: the host is told why, and the template, whose socket closes with us, leaves.
int refuse(const ControlSocket& host, const Error& error) {
  std::ignore = host.send(control::HostRefused{error.kind, error.message});
  return exit_status_of(error.kind);
}

}  // namespace

int hosted_guard(const Call& call) {
  const auto numbers = numbers_of(call, 3);
  if (!numbers) return called_by_hand("hosted-guard");
  HostedGuard seat;
  seat.channel = Descriptor(kept_to_ourselves((*numbers)[0]));
  seat.supervisor = (*numbers)[1];
  seat.host = Descriptor(kept_to_ourselves((*numbers)[2]));
  seat.meanwhile = [&] { prune_runs(default_runs_directory(call.environment)); };
  return run_hosted_guard(std::move(seat));
}

int hosted_supervisor(const Call& call) {
  constexpr std::size_t seats = 4;
  constexpr std::size_t first_option = 1 + seats;
  const auto numbers = numbers_of(call, seats);
  if (!numbers) return called_by_hand("hosted-supervisor");
  take_supervisor_role();
  SupervisorSeat seat;
  seat.guard = Descriptor(kept_to_ourselves((*numbers)[0]));
  const HostSeat host{kept_to_ourselves((*numbers)[1]), (*numbers)[2], kept_to_ourselves((*numbers)[3])};
  ControlSocket to_host{Descriptor(host.socket)};
  if (call.words[0] != forklift::version) {
    return refuse(to_host, {ErrorKind::usage, fmt::format("the forklift binary {} is version {}, but the library that "
                                                          "executes it is version {}; install them together",
                                                          call.whole[0], forklift::version, call.words[0])});
  }
  const std::vector<std::string> words(call.words.begin() + first_option, call.words.end());
  auto request = parse_launch(words, call.environment);
  if (!request) return refuse(to_host, request.error());
  request.value().command = words;
  auto inputs = prepare_hosted_run(request.value(), call.environment, call.clock, host);
  if (!inputs) return refuse(to_host, inputs.error());
  for (const std::string& warning : inputs.value().plan.warnings) {
    if (request.value().chatter == Chatter::normal) std::ignore = to_host.send(control::HostNote{warning});
  }
  std::ignore = to_host.release().release();  // The supervisor's from here on.
  return supervise(inputs.value(), std::move(seat));
}

}  // namespace forklift::command
