// The control sockets of forked replicas, while they run. What a replica says (its result) waits in its socket until it
// has ended: nothing is watched, and nothing wakes the loop.
#pragma once

#include <functional>
#include <map>
#include <utility>

#include "forklift/ids.hpp"
#include "worker/control_socket.hpp"

namespace forklift {

class ReplicaLinks {
 public:
  using Said = std::function<void(Rank, Arrived)>;

  explicit ReplicaLinks(Said said) : said_(std::move(said)) {}

  /// Takes over a replica's socket.
  void add(Rank rank, ControlSocket control) { links_.insert_or_assign(rank, std::move(control)); }
  /// The replica has ended: takes what it said, and closes its socket.
  void finish(Rank rank);
  void clear() { links_.clear(); }

 private:
  Said said_;
  std::map<Rank, ControlSocket> links_;
};

}  // namespace forklift
