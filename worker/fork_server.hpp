// What a template does at its fork point: waits for fork requests and answers each with a group of replicas.
//
//   template ──fork──► middle ──fork──► replica 0 … N-1
//
// The middle process forks all replicas of an attempt and exits, so that they become children of the supervisor (a
// subreaper) in one step. A replica says Hello on its own socket and waits for Go, which comes when the supervisor has
// seen it among its children: only then is PR_SET_PDEATHSIG of any use.
#pragma once

#include "forklift/ids.hpp"
#include "forklift/worker.hpp"
#include "worker/control_socket.hpp"

namespace forklift {

/// What a replica is born with.
struct ReplicaSeat {
  Attempt attempt;
  Rank rank;
  LocalRank local_rank;
  ControlSocket control;  ///< Its own, to the supervisor.
};

/// Serves the supervisor at the other end of `control`. Returns in every replica, environment and streams in place;
/// ends the template itself by _exit(0) when the supervisor closes the socket. One thread; the others of the process
/// do not exist in the replicas.
ReplicaSeat serve_forks(ControlSocket control, const ForkHooks& hooks);

}  // namespace forklift
