// Replicas that talk gRPC or HTTP to each other must not do so through the site's proxy.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "launcher/plan/environment_rules.hpp"

namespace forklift {
namespace {

constexpr std::array proxy_names = {"http_proxy", "https_proxy", "all_proxy", "grpc_proxy",
                                    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "GRPC_PROXY"};

std::optional<std::string> proxy_in_use(const Environment& inherited) {
  for (const char* name : proxy_names) {
    const auto found = inherited.find(name);
    if (found != inherited.end() && !found->second.empty()) return name;
  }
  return std::nullopt;
}

bool lists(std::string_view list, std::string_view host) {
  while (true) {
    const auto comma = list.find(',');
    std::string_view entry = list.substr(0, comma);
    while (entry.starts_with(' ')) entry.remove_prefix(1);
    while (entry.ends_with(' ')) entry.remove_suffix(1);
    if (entry == host || entry == "*") return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
}

std::vector<std::string> rendezvous_hosts(const EnvironmentInputs& inputs) {
  std::vector<std::string> hosts = {inputs.rendezvous.master.host};
  if (inputs.rendezvous.reach != Reach::loopback) return hosts;
  for (const char* host : {"localhost", "127.0.0.1"}) {
    if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.emplace_back(host);
  }
  return hosts;
}

}  // namespace

void add_proxy_variables(const EnvironmentInputs& inputs, EnvironmentDraft& draft) {
  const auto proxy = proxy_in_use(inputs.inherited);
  if (!proxy) return;
  const std::string origin = fmt::format("extended by the rendezvous hosts: {} is set", *proxy);
  const std::vector<std::string> hosts = rendezvous_hosts(inputs);
  // Each library reads one of the two spellings; the one that is missing starts from its twin.
  for (const auto& [name, twin] : {std::pair("no_proxy", "NO_PROXY"), std::pair("NO_PROXY", "no_proxy")}) {
    auto found = inputs.inherited.find(name);
    if (found == inputs.inherited.end()) found = inputs.inherited.find(twin);
    std::string list = found == inputs.inherited.end() ? std::string() : found->second;
    const std::string before = list;
    for (const std::string& host : hosts) {
      if (!lists(list, host)) list += list.empty() ? host : "," + host;
    }
    if (list != before) draft.set(Claim::asked, name, list, origin);
  }
}

}  // namespace forklift
