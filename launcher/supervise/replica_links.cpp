#include "launcher/supervise/replica_links.hpp"

namespace forklift {

void ReplicaLinks::finish(Rank rank) {
  const auto link = links_.find(rank);
  if (link == links_.end()) return;
  const ControlSocket control = std::move(link->second);
  links_.erase(link);
  for (;;) {
    Arrived arrived;
    switch (control.receive(arrived, ControlSocket::Mode::non_blocking)) {
      case Arrival::message:
        said_(rank, std::move(arrived));
        break;
      case Arrival::foreign:
        break;
      case Arrival::nothing:
      case Arrival::closed:
        return;
    }
  }
}

}  // namespace forklift
