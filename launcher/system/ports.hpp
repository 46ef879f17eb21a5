// TCP ports: find free ones, and say who holds a busy one.
#pragma once

#include <optional>
#include <vector>

#include "forklift/result.hpp"
#include "launcher/diagnose/evidence.hpp"

namespace forklift {

/// `count` different ports on which nobody listens at this moment, on every local address, outside the kernel's
/// ephemeral range where possible (so that an outgoing connection does not take one between now and the replica's
/// bind). Error: none left, or no sockets (EMFILE).
Result<std::vector<int>> find_free_ports(int count);

/// Whether a server (which sets SO_REUSEADDR) could bind the port on all addresses now. Connections of the last minute
/// that the kernel still remembers do not make it busy.
bool port_is_free(int port);

/// Who listens on `port`, from /proc/net/tcp{,6} and /proc/*/fd; pid 0 if the holder belongs to somebody whose
/// descriptors we may not read. Empty if nobody listens.
std::optional<PortHolder> holder_of_port(int port);

/// Whether any TCP connection to or from local port `port` exists, TIME_WAIT included (somebody used the rendezvous).
bool port_was_connected(int port);

}  // namespace forklift
