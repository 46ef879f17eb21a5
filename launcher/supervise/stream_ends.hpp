// The output streams of one replica while it is being started: pipes and log files, by stream.
#pragma once

#include <optional>
#include <string>

#include "forklift/outcome.hpp"
#include "forklift/plan.hpp"
#include "launcher/output/output_stream.hpp"
#include "worker/descriptor.hpp"

namespace forklift {

inline constexpr OutputStream both_streams[] = {OutputStream::standard_output, OutputStream::standard_error};

constexpr std::size_t index_of(OutputStream stream) { return stream == OutputStream::standard_output ? 0 : 1; }

StreamRoute route_of(const ReplicaPlan& replica, OutputStream stream);

struct StreamEnds {
  Descriptor child_end[2];  ///< Invalid: the child gets the launcher's own 1 or 2.
  Descriptor our_end[2];
  Descriptor copy[2];  ///< The log file of a tee'd stream.
};

/// The log file of a redirected or tee'd stream.
std::string log_path(const AttemptValues& attempt, const ReplicaPlan& replica, OutputStream stream);

/// Makes the pipes and opens the log files that the replica's routes ask for. Empty: all are there.
std::optional<FailedToStart> open_stream_ends(const AttemptValues& attempt, const ReplicaPlan& replica,
                                              StreamEnds& ends);

}  // namespace forklift
