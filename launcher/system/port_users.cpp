// Who listens on a port, and whether anybody ever came.
#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>

#include "launcher/system/ports.hpp"
#include "launcher/system/process_table.hpp"
#include "launcher/system/tcp_table.hpp"
#include "worker/kernel_file.hpp"

namespace forklift {
namespace {

/// How /proc/PID/fd shows the sockets that listen on `port`: one for IPv4, one for IPv6, or one for both.
std::vector<std::string> listeners(int port) {
  std::vector<std::string> links;
  any_tcp_socket([&](const TcpSocket& socket) {
    if (socket.listening && socket.local.port == port) {
      links.push_back("socket:[" + std::to_string(socket.inode) + "]");
    }
    return false;
  });
  return links;
}

bool has_open(int pid, const std::vector<std::string>& links) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd";
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), ::closedir);
  if (!directory) return false;
  while (const dirent* entry = ::readdir(directory.get())) {
    char target[64];
    const ssize_t length = ::readlinkat(::dirfd(directory.get()), entry->d_name, target, sizeof target);
    if (length <= 0) continue;
    const std::string_view link(target, static_cast<std::size_t>(length));
    if (std::find(links.begin(), links.end(), link) != links.end()) return true;
  }
  return false;
}

}  // namespace

std::optional<PortHolder> holder_of_port(int port) {
  const auto links = listeners(port);
  if (links.empty()) return std::nullopt;
  // A server that forks shares its socket: the lowest pid is the one that opened it, or close to it.
  for (const int pid : numbered_entries("/proc", "")) {
    if (has_open(pid, links)) return PortHolder{port, pid, command_of(pid)};
  }
  return PortHolder{port, 0, ""};
}

bool port_was_connected(int port) {
  return any_tcp_socket([port](const TcpSocket& socket) {
    if (socket.listening) return false;
    return socket.local.port == port || (socket.remote.port == port && is_local_connection(socket));
  });
}

}  // namespace forklift
