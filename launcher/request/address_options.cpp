// Where the main process is, from accelerate's two flags, torchrun's two, or a rendezvous.
//
// Ranks are static in this version: a rendezvous gives an address, it does not hand out machine ranks.
#include <fmt/format.h>

#include "launcher/request/fill_request.hpp"
#include "launcher/request/option_reader.hpp"
#include "launcher/request/twin_options.hpp"

namespace forklift {
namespace {

enum class Backend { static_ranks, c10d, etcd };

constexpr std::array<Word<Backend>, 4> backend_words{
    {{"static", Backend::static_ranks}, {"c10d", Backend::c10d}, {"etcd", Backend::etcd}, {"etcd-v2", Backend::etcd}}};
constexpr NumberRange port_range{0, 65'535};
constexpr int default_c10d_port = 29400;  // torchrun's, where the endpoint names none.

/// "--nnodes" or "--num-machines", whichever made the job larger than one machine.
std::string_view machines_flag(const GivenOptions& given) {
  const GivenOption* nnodes = given.find("nnodes");
  return nnodes != nullptr ? std::string_view(nnodes->place) : std::string_view("--num-machines");
}

std::optional<std::string> parse_host(std::string_view text) {
  const std::optional<Endpoint> endpoint = parse_endpoint(text);
  if (!endpoint || endpoint->port) return std::nullopt;
  return endpoint->host;
}

Result<void> read_plain_address(const GivenOptions& given, LaunchRequest& request) {
  OptionReader reader(given);
  std::optional<std::string> ours;
  std::optional<std::string> theirs;
  for (const auto& [name, host] : {std::pair{"main-process-ip", &ours}, std::pair{"master-addr", &theirs}})
    reader.read(name, *host, parse_host, "a host name or address without a port");
  settle_twins(reader, given, Twin{"main-process-ip", ours}, Twin{"master-addr", theirs});
  request.main_process_ip = ours ? *ours : theirs.value_or("");

  std::optional<int> our_port;
  std::optional<int> their_port;
  reader.number("main-process-port", port_range, our_port);
  reader.number("master-port", port_range, their_port);
  settle_twins(reader, given, Twin{"main-process-port", our_port}, Twin{"master-port", their_port});
  request.main_process_port = our_port ? our_port : their_port;
  return reader.result();
}

void use_endpoint(const GivenOption& option, const Endpoint& endpoint, Backend backend, LaunchRequest& request) {
  const bool other_host = !request.main_process_ip.empty() && request.main_process_ip != endpoint.host;
  const bool other_port = request.main_process_port && endpoint.port && request.main_process_port != endpoint.port;
  if (other_host || other_port)
    request.warnings.push_back(fmt::format("{} {} is used as the main process's address, the other one given is not",
                                           option.place, option.text()));
  request.main_process_ip = endpoint.host;
  request.origins["main-process-ip"] = origin_of(option);
  const bool needs_agreed_port = backend == Backend::c10d && request.num_machines > 1;
  const std::optional<int> port = endpoint.port || !needs_agreed_port ? endpoint.port : default_c10d_port;
  if (!port) return;
  request.main_process_port = port;
  request.origins["main-process-port"] = origin_of(option);
}

Result<void> read_endpoint(const GivenOptions& given, Backend backend, LaunchRequest& request) {
  const GivenOption* option = given.find("rdzv-endpoint");
  if (option == nullptr) return {};
  if (backend == Backend::etcd) {  // That is where etcd listens, not where rank 0 runs.
    request.warnings.push_back(fmt::format("{} has no effect: ranks are static, etcd is not asked", option->place));
    return {};
  }
  const std::optional<Endpoint> endpoint = parse_endpoint(option->text());
  if (!endpoint) return bad_value(*option, "HOST or HOST:PORT with a port from 0 to 65535");
  use_endpoint(*option, *endpoint, backend, request);
  return {};
}

/// `--standalone`: this machine alone, on a free port, whatever else was said about addresses.
Result<void> apply_standalone(const GivenOptions& given, LaunchRequest& request) {
  const GivenOption& standalone = *given.find("standalone");
  if (request.num_machines > 1)
    return usage_error(fmt::format("{} means one machine, but {} {} was given", standalone.place, machines_flag(given),
                                   request.num_machines));
  for (const auto name : {"main-process-ip", "master-addr", "main-process-port", "master-port", "rdzv-endpoint"})
    if (const GivenOption* ignored = given.find(name))
      request.warnings.push_back(
          fmt::format("{} has no effect: {} finds a free port", ignored->place, standalone.place));
  request.main_process_port = 0;
  for (const auto name : {"num-machines", "main-process-ip", "main-process-port"})
    request.origins[name] = origin_of(standalone);
  return {};
}

/// What several machines need to know of each other, as no channel between them exists.
Result<void> check_several_machines(const GivenOptions& given, Backend backend, const LaunchRequest& request) {
  const std::string job = fmt::format("{} {}", machines_flag(given), request.num_machines);
  if (!request.machine_rank && backend != Backend::static_ranks)
    return usage_error(
        fmt::format("{} with --rdzv-backend {} hands out no machine ranks in this version: give each "
                    "machine its own with --node-rank (or --machine-rank)",
                    job, given.find("rdzv-backend")->text()));
  if (!request.machine_rank)
    return usage_error(fmt::format("{} needs the rank of this machine: give --machine-rank (or --node-rank), 0 to {}",
                                   job, request.num_machines - 1));
  if (request.main_process_ip.empty())
    return usage_error(
        fmt::format("{} needs the address of the machine with rank 0: give --main-process-ip (or --master-addr)", job));
  if (request.main_process_port == 0)
    return usage_error(fmt::format(
        "{} needs one port that all machines know: got 0, expected --main-process-port (or --master-port) from 1 to {}",
        job, port_range.highest));
  return {};
}

}  // namespace

Result<void> fill_address(const GivenOptions& given, LaunchRequest& request) {
  Backend backend = Backend::static_ranks;
  OptionReader reader(given);
  reader.word("rdzv-backend", backend_words, backend);
  if (auto wrong = reader.result(); !wrong) return wrong;
  if (given.has("standalone")) return apply_standalone(given, request);
  if (auto plain = read_plain_address(given, request); !plain) return plain;
  if (auto endpoint = read_endpoint(given, backend, request); !endpoint) return endpoint;
  if (request.num_machines > 1) return check_several_machines(given, backend, request);
  return {};
}

}  // namespace forklift
