#include "launcher/request/value_text.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>

#include "launcher/diagnose/decode_status.hpp"

namespace forklift {
namespace {

constexpr NumberRange any_local_rank{0, 999'999};
constexpr NumberRange any_port{0, 65'535};

std::optional<Streams> parse_streams(std::string_view text) {
  const std::optional<int> digit = text.size() == 1 ? parse_number(text, {0, 3}) : std::nullopt;
  if (!digit) return std::nullopt;
  return static_cast<Streams>(*digit);
}

bool plausible_host(std::string_view host) {
  return !host.empty() && std::ranges::all_of(host, [](char c) { return c > ' ' && c != '/' && c != ','; });
}

}  // namespace

std::optional<int> parse_number(std::string_view text, NumberRange range) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stopped != end) return std::nullopt;
  if (number < range.lowest || number > range.highest) return std::nullopt;
  return number;
}

std::optional<int> parse_handled_signal(std::string_view text) {
  const int signal = signal_number(text);
  if (signal <= 0 || signal == SIGKILL || signal == SIGSTOP) return std::nullopt;
  return signal;
}

std::optional<StreamMask> parse_stream_mask(std::string_view text) {
  StreamMask mask;
  if (text.find(':') == std::string_view::npos) {
    const std::optional<Streams> all = parse_streams(text);
    if (!all) return std::nullopt;
    mask.others = *all;
    return mask;
  }
  for (const std::string_view entry : split_at(text, ',')) {
    const std::vector<std::string_view> pair = split_at(entry, ':');
    if (pair.size() != 2) return std::nullopt;
    const std::optional<int> rank = parse_number(pair[0], any_local_rank);
    const std::optional<Streams> streams = parse_streams(pair[1]);
    if (!rank || !streams) return std::nullopt;
    mask.by_local_rank[LocalRank{*rank}] = *streams;
  }
  return mask;
}

std::optional<std::vector<LocalRank>> parse_local_ranks(std::string_view text) {
  std::vector<LocalRank> ranks;
  for (const std::string_view piece : split_at(text, ',')) {
    const std::optional<int> rank = parse_number(piece, any_local_rank);
    if (!rank) return std::nullopt;
    ranks.push_back({*rank});
  }
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

std::optional<Endpoint> parse_endpoint(std::string_view text) {
  std::string_view host = text;
  std::optional<std::string_view> port;
  if (text.starts_with('[')) {
    const std::size_t closed = text.find(']');
    if (closed == std::string_view::npos) return std::nullopt;
    host = text.substr(1, closed - 1);
    const std::string_view rest = text.substr(closed + 1);
    if (!rest.empty() && rest[0] != ':') return std::nullopt;
    if (!rest.empty()) port = rest.substr(1);
  } else if (std::ranges::count(text, ':') == 1) {  // More colons: an IPv6 address without a port.
    const std::size_t colon = text.find(':');
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  if (!plausible_host(host)) return std::nullopt;
  Endpoint endpoint{std::string(host), std::nullopt};
  if (!port) return endpoint;
  endpoint.port = parse_number(*port, any_port);
  if (!endpoint.port) return std::nullopt;
  return endpoint;
}

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  while (true) {
    const std::size_t end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

}  // namespace forklift
