// What a supervisor and the processes that it forks from say to each other: one JSON object {v, type, …} per packet.
//
//   template ──Ready──► supervisor            once, at its fork point
//   supervisor ──ForkGroup, ForkReplica × N──► template ──Forked──► supervisor          once per attempt
//   replica ──Hello──► supervisor ──Go──► replica ──Returned──► supervisor             on the replica's own socket
//   host program ──HostStop──► supervisor ──HostRefused | Returned … RunEnded──► host program
//
// Decoding trusts nothing: a packet may come from a user's program that wrote to the wrong descriptor.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "forklift/environment.hpp"
#include "forklift/ids.hpp"
#include "forklift/result.hpp"

namespace forklift::control {

inline constexpr int version = 1;
/// A message whose JSON is longer travels as a sealed memfd, announced by InMemory.
inline constexpr std::size_t largest_packet = std::size_t{60} << 10;
/// Nothing that forklift sends comes near it.
inline constexpr std::size_t largest_message = std::size_t{64} << 20;

/// The message itself is in the memfd that comes with the packet.
struct InMemory {};

/// The template has reached its fork point. `threads`: names of its threads beside the one that speaks.
struct Ready {
  std::vector<std::string> threads;
};

/// Fork so many replicas: as many ForkReplica follow. The environment is what all of them share.
struct ForkGroup {
  Attempt attempt;
  int replicas = 0;
  int supervisor = 0;  ///< pid: what every Go of the group will say.
  std::vector<EnvironmentVariable> set;
  std::vector<std::string> unset;
};

enum class Foreground { no, yes };

/// Comes with four descriptors: the replica's control socket, and its standard input, output, error. The socket is the
/// first, so that a template with few free numbers can still say that the others did not fit.
struct ForkReplica {
  Rank rank;
  LocalRank local_rank;
  std::vector<EnvironmentVariable> set;    ///< Beside ForkGroup::set; wins over it.
  std::vector<int> cpus;                   ///< Empty: as the template.
  Foreground foreground = Foreground::no;  ///< yes: the replica takes the terminal that is its standard input.
};

/// Every replica of the attempt was forked (or has said ForkFailed), and the process that forked them is gone, so that
/// they are the supervisor's children now.
struct Forked {
  Attempt attempt;
};

/// From a replica, as its first act.
struct Hello {
  Attempt attempt;
  Rank rank;
};

/// In the place of a replica's Hello.
struct ForkFailed {
  int os_errno = 0;
};

/// The supervisor knows the replica as its child: the user's code may run.
struct Go {
  int supervisor = 0;  ///< pid; whoever finds another parent has lost it
};

/// What the function of a replica returned. text and bytes come with a sealed memfd that holds them.
struct Returned {
  using Value = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double>;
  enum class Payload { none, text, bytes };
  Attempt attempt;
  Rank rank;
  Value value;
  Payload payload = Payload::none;
};

/// The user of the host program wants the job to stop.
struct HostStop {
  int signal = 0;
};

/// The job was not started; `message` says why.
struct HostRefused {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
};

/// A line for the user of the host program (warnings of the plan).
struct HostNote {
  std::string text;
};

/// The run is over and its report is written.
struct RunEnded {
  std::string run_directory;
};

using Message = std::variant<InMemory, Ready, ForkGroup, ForkReplica, Forked, Hello, ForkFailed, Go, Returned, HostStop,
                             HostRefused, HostNote, RunEnded>;

/// One JSON object, not terminated. Text that is not UTF-8 keeps its bytes only in `set`, `unset` and `run_directory`
/// (they travel as arrays of numbers then); elsewhere it is mended.
std::string encode(const Message& message);

/// The message, or what is wrong with the text.
Result<Message> decode(std::string_view text);

}  // namespace forklift::control
