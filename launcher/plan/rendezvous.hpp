// Where the replicas of a job meet: addresses, ports, and which of them this node must provide.
#pragma once

#include <string>
#include <vector>

#include "forklift/plan.hpp"
#include "launcher/plan/ranks.hpp"

namespace forklift {

enum class Reach { loopback, network };

/// A host and a port as text; the port may be a placeholder of plan.hpp.
struct MeetingPoint {
  std::string host;
  std::string port;
  [[nodiscard]] std::string text() const;  ///< host:port, with brackets around an IPv6 address.
};

struct Rendezvous {
  Reach reach = Reach::loopback;
  MeetingPoint master;                ///< torch's store; rank 0 serves it.
  MeetingPoint coordinator;           ///< JAX's service; set only with `--framework jax`.
  std::vector<MeetingPoint> workers;  ///< One per rank; set only with `--framework tensorflow`.
  std::string host_origin;
  std::string port_origin;
  /// Those that replicas of this node listen on. A port of another node is not ours to check or to reserve.
  std::vector<PortPlan> ports;
};

/// Error (usage): several machines without an address, with a port to be found, or with TensorFlow.
Result<Rendezvous> plan_rendezvous(const LaunchRequest& request, const WorldShape& world);

}  // namespace forklift
