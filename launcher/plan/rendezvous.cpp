#include "launcher/plan/rendezvous.hpp"

#include <fmt/format.h>

#include "launcher/plan/placeholders.hpp"
#include "launcher/plan/wording.hpp"

namespace forklift {
namespace {

constexpr int default_master_port = 29500;
constexpr int largest_port = 65535;

/// Linux takes no single environment string over 128 KiB, and TF_CONFIG lists every worker in each replica.
constexpr int most_tensorflow_workers = 4096;

Error usage(std::string message) { return {ErrorKind::usage, std::move(message)}; }

bool is_loopback(const std::string& host) { return host.starts_with("127.") || host == "localhost" || host == "::1"; }

Result<void> plan_host(const LaunchRequest& request, const WorldShape& world, Rendezvous& rendezvous) {
  if (request.main_process_ip.empty() && world.num_nodes > 1) {
    return usage(
        fmt::format("--main-process-ip is needed with {} machines: the address of machine 0", world.num_nodes));
  }
  const bool given = !request.main_process_ip.empty();
  rendezvous.master.host = given ? request.main_process_ip : "127.0.0.1";
  rendezvous.host_origin = given ? origin_of(request, "main-process-ip", "--main-process-ip") : "default: one machine";
  rendezvous.reach = world.num_nodes == 1 && is_loopback(rendezvous.master.host) ? Reach::loopback : Reach::network;
  return {};
}

/// The master port as a number; 0: found for every attempt.
Result<int> master_port(const LaunchRequest& request, const WorldShape& world) {
  const int port = request.main_process_port.value_or(world.num_nodes > 1 ? default_master_port : 0);
  if (port < 0 || port > largest_port) {
    return usage(fmt::format("--main-process-port {}: expected 0 to {}", port, largest_port));
  }
  if (port == 0 && world.num_nodes > 1) {
    return usage(
        fmt::format("--main-process-port 0 finds a free port on one machine only; {} machines need a fixed port "
                    "that all of them are given",
                    world.num_nodes));
  }
  return port;
}

/// Adds a port to those of this node (if it is the one that listens) and gives its text for the environment.
std::string add_port(Rendezvous& rendezvous, const WorldShape& world, std::string name, int port) {
  std::string text = port == 0 ? port_placeholder(name) : std::to_string(port);
  if (world.node_rank == NodeRank{0}) rendezvous.ports.push_back({std::move(name), port});
  return text;
}

/// Several machines must agree on JAX's port without talking: it is the one above the master's.
Result<void> plan_coordinator(const WorldShape& world, int master, Rendezvous& rendezvous) {
  const int port = world.num_nodes > 1 ? master + 1 : 0;
  if (port > largest_port) {
    return usage(
        fmt::format("--main-process-port {} leaves no port above it for JAX's coordinator; expected at most {}", master,
                    largest_port - 1));
  }
  rendezvous.coordinator = {rendezvous.master.host, add_port(rendezvous, world, "coordinator", port)};
  return {};
}

Result<void> plan_workers(const WorldShape& world, Rendezvous& rendezvous) {
  if (world.num_nodes > 1) {
    return usage(
        fmt::format("--framework tensorflow works on one machine: TF_CONFIG must list the address of every worker, and "
                    "those of {} machines are not known here; give TF_CONFIG by --env and use --framework none",
                    world.num_nodes));
  }
  if (world.world_size > most_tensorflow_workers) {
    return usage(fmt::format("--framework tensorflow with {} workers: at most {} fit into TF_CONFIG", world.world_size,
                             most_tensorflow_workers));
  }
  for (int rank = 0; rank < world.world_size; ++rank) {
    rendezvous.workers.push_back(
        {rendezvous.master.host, add_port(rendezvous, world, fmt::format("worker{}", rank), 0)});
  }
  return {};
}

}  // namespace

std::string MeetingPoint::text() const {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return is_ipv6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

Result<Rendezvous> plan_rendezvous(const LaunchRequest& request, const WorldShape& world) {
  Rendezvous rendezvous;
  const auto host = plan_host(request, world, rendezvous);
  if (!host) return host.error();
  const auto port = master_port(request, world);
  if (!port) return port.error();
  if (world.identity == Identity::told) {
    rendezvous.master.port = add_port(rendezvous, world, "master", port.value());
    const bool given = request.main_process_port.has_value();
    rendezvous.port_origin = port.value() == 0 ? "found free for each attempt"
                             : given           ? origin_of(request, "main-process-port", "--main-process-port")
                                               : "default on several machines";
  }
  if (request.framework == Framework::jax) {
    const auto planned = plan_coordinator(world, port.value(), rendezvous);
    if (!planned) return planned.error();
  }
  if (request.framework == Framework::tensorflow) {
    const auto planned = plan_workers(world, rendezvous);
    if (!planned) return planned.error();
  }
  return rendezvous;
}

}  // namespace forklift
