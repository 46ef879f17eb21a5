// Replicas that fell because another one was gone.
#pragma once

#include "launcher/diagnose/case.hpp"

namespace forklift {

/// True if the replica's own words say that it lost a peer: it is a witness of the failure, not its cause.
bool only_lost_a_peer(const Ending& ending);

/// A witness is explained by those that had left with success before it, where there are any: likely one of them was
/// still needed, in the middle of a collective operation. Their success is no failure, so that the root cause remains
/// the witness; but its diagnosis names them. On several machines the peer may also be on another one.
void name_likely_peer(const FailureCase& the_case, Diagnosis& diagnosis);

}  // namespace forklift
