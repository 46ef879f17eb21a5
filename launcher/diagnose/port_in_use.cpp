// A port that another process holds, in the words of torch, gloo, NCCL, gRPC and Python.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "launcher/diagnose/plain_text.hpp"
#include "launcher/diagnose/rules.hpp"

namespace forklift {
namespace {

constexpr std::array<std::string_view, 7> busy_port_texts{
    "EADDRINUSE",
    "ddress already in use",          // with "A" and with "a"
    "[Errno 98]",                     // Python
    "errno: 98",                      // torch before 2.1
    "Could not start gRPC server",    // TensorFlow
    "Failed to add port to server",   // gRPC
    "No address added out of total",  // gRPC
};

/// What stands right before the number of the port.
constexpr std::array<std::string_view, 9> port_marks{
    "port: ", "port ", "[::]:", "0.0.0.0:", "127.0.0.1:", "localhost:", "[::1]:", "]:", "', ",
};

std::string line_with_busy_port(std::string_view text) {
  for (const std::string_view line : split_lines(text)) {
    const bool busy = std::any_of(busy_port_texts.begin(), busy_port_texts.end(),
                                  [&](std::string_view words) { return contains(line, words); });
    if (busy) return std::string(line);
  }
  return {};
}

std::optional<int> port_in(std::string_view line) {
  constexpr int highest = 65535;
  for (const std::string_view mark : port_marks) {
    const std::size_t found = line.find(mark);
    if (found == std::string_view::npos) continue;
    const char* begin = line.data() + found + mark.size();
    int port = 0;
    const auto [end, error] = std::from_chars(begin, line.data() + line.size(), port);
    if (error == std::errc{} && end != begin && port > 0 && port <= highest) return port;
  }
  return std::nullopt;
}

std::string holder_of(const std::optional<PortHolder>& holder) {
  if (!holder || holder->pid == 0) return "another process";
  if (holder->command.empty()) return fmt::format("process {}", holder->pid);
  constexpr std::size_t longest = 120;
  return fmt::format("process {} ({})", holder->pid, one_line(plain_text(holder->command), longest));
}

void add_port_advice(const FailureCase& the_case, const std::optional<PortHolder>& holder, Diagnosis& diagnosis) {
  if (holder && holder->pid != 0) {
    diagnosis.advice.push_back(fmt::format("If that process is a leftover, end it: kill {}", holder->pid));
  }
  diagnosis.advice.emplace_back("Let forklift find a free port: leave out --main-process-port, or give it 0.");
  const std::vector<PortPlan>& ports = the_case.plan.ports;
  const bool all_found =
      !ports.empty() && std::all_of(ports.begin(), ports.end(), [](const PortPlan& port) { return port.port == 0; });
  if (all_found) {
    diagnosis.advice.emplace_back(
        "forklift had found its ports free: if the program names a port of its own, use MASTER_PORT from the "
        "environment in its place.");
  }
}

}  // namespace

std::optional<Diagnosis> explain_port_in_use(const FailureCase& the_case) {
  const std::string line = line_with_busy_port(own_words(the_case));
  if (line.empty()) return std::nullopt;
  const std::optional<PortHolder>& holder = the_case.evidence.port_holder;
  std::optional<int> port = port_in(line);
  if (!port && holder) port = holder->port;

  const bool same_port = holder && port == holder->port;
  const std::optional<PortHolder> named = same_port ? holder : std::nullopt;
  const std::string which = port ? fmt::format("port {}", *port) : std::string("a port");
  Diagnosis diagnosis =
      diagnosis_of(the_case, Category::port_in_use, Confidence::certain,
                   fmt::format("could not listen on {}: {} already uses it", which, holder_of(named)));
  constexpr std::size_t longest = 300;
  diagnosis.evidence.push_back(one_line(line, longest));
  add_port_advice(the_case, named, diagnosis);
  return diagnosis;
}

}  // namespace forklift
