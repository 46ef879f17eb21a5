// Values as they are written on a command line: numbers, times, signals, masks, addresses.
//
// Each function reads the whole text and returns nothing if any of it is not understood; the sentence about it is made
// by the caller, who knows the flag.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forklift/ids.hpp"
#include "forklift/request.hpp"

namespace forklift {

/// Both ends belong to the range.
struct NumberRange {
  int lowest = 0;
  int highest = 0;
};

/// A decimal whole number within the range; a leading `-` is read, a `+` or a space is not.
std::optional<int> parse_number(std::string_view text, NumberRange range);

/// "30", "1.5", "90s", "10m", "2h" or "HH:MM:SS" (any number of hours), from 0 to 3650 days, exact to a nanosecond.
std::optional<Duration> parse_duration(std::string_view text);

/// "13476831232", "440M", "12.5GiB": bytes, or with the letter K, M, G or T steps of 1024, whether or not B or iB
/// follows. At most 1 EiB.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

/// A signal that a program can handle: "USR1", "SIGUSR1" or its number; not SIGKILL or SIGSTOP.
std::optional<int> parse_handled_signal(std::string_view text);

/// torchrun's mask: one digit from 0 to 3 for all, or "RANK:DIGIT,RANK:DIGIT" with local ranks of any length. The last
/// of several entries for a rank wins; ranks that a map leaves out have no stream.
std::optional<StreamMask> parse_stream_mask(std::string_view text);

/// "0,3": local ranks, sorted, each once.
std::optional<std::vector<LocalRank>> parse_local_ranks(std::string_view text);

/// A host and, if it was written, a port.
struct Endpoint {
  std::string host;         ///< Without the brackets of an IPv6 address.
  std::optional<int> port;  ///< 0 … 65535
};

/// "HOST", "HOST:PORT", "[ADDRESS]:PORT", or an IPv6 address alone.
std::optional<Endpoint> parse_endpoint(std::string_view text);

/// The pieces between separators; n separators give n + 1 pieces, empty ones included.
std::vector<std::string_view> split_at(std::string_view text, char separator);

}  // namespace forklift
