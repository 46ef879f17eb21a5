#include "launcher/plan/json_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace forklift {
namespace {

/// The beginning of a value, for a message.
std::string excerpt(const nlohmann::json& value) {
  constexpr std::size_t longest = 40;
  std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > longest) text = text.substr(0, longest) + "…";
  return text;
}

}  // namespace

void JsonComplaint::add(const std::string& place, const nlohmann::json& seen, std::string_view expected) {
  add(place, fmt::format("saw {}, expected {}", excerpt(seen), expected));
}

void JsonComplaint::add(const std::string& place, std::string_view what) {
  if (error_) return;
  error_ = Error{ErrorKind::usage, place.empty() ? fmt::format("{}: {}", document_, what)
                                                 : fmt::format("{}: {}: {}", document_, place, what)};
}

JsonFields::JsonFields(const nlohmann::json& object, std::string place, JsonComplaint& complaint)
    : object_(object), place_(std::move(place)), complaint_(complaint) {
  if (!object_.is_object()) complaint_.add(place_, object_, "an object");
}

std::string JsonFields::place_of(std::string_view key) const {
  return place_.empty() ? std::string(key) : fmt::format("{}.{}", place_, key);
}

const nlohmann::json* JsonFields::take(const char* key) {
  known_.emplace_back(key);
  if (!object_.is_object()) return nullptr;
  const auto found = object_.find(key);
  return found == object_.end() ? nullptr : &*found;
}

void JsonFields::read(const char* key, std::string& target) {
  const nlohmann::json* value = take(key);
  if (value == nullptr) return;
  if (!value->is_string()) return complaint_.add(place_of(key), *value, "a text");
  target = value->get<std::string>();
}

void JsonFields::read(const char* key, std::uint64_t& target) {
  const nlohmann::json* value = take(key);
  if (value == nullptr) return;
  if (!value->is_number_unsigned()) return complaint_.add(place_of(key), *value, "a whole number, 0 or more");
  target = value->get<std::uint64_t>();
}

void JsonFields::read(const char* key, std::optional<std::uint64_t>& target) {
  const nlohmann::json* value = take(key);
  if (value == nullptr || value->is_null()) return;
  if (!value->is_number_unsigned()) return complaint_.add(place_of(key), *value, "a whole number, 0 or more, or null");
  target = value->get<std::uint64_t>();
}

void JsonFields::read_integer(const char* key, int lowest, int highest, int& target) {
  const nlohmann::json* value = take(key);
  if (value == nullptr) return;
  // A number over 2^63 is unsigned only; as a signed one it would look negative.
  const bool fits = value->is_number_integer() &&
                    (!value->is_number_unsigned() || value->get<std::uint64_t>() <= std::numeric_limits<int>::max()) &&
                    value->get<std::int64_t>() >= lowest && value->get<std::int64_t>() <= highest;
  if (!fits) return complaint_.add(place_of(key), *value, fmt::format("a whole number from {} to {}", lowest, highest));
  target = value->get<int>();
}

void JsonFields::read_positive(const char* key, std::optional<double>& target) {
  const nlohmann::json* value = take(key);
  if (value == nullptr || value->is_null()) return;
  if (!value->is_number() || !(value->get<double>() > 0) || !std::isfinite(value->get<double>())) {
    return complaint_.add(place_of(key), *value, "a number over 0, or null");
  }
  target = value->get<double>();
}

const nlohmann::json* JsonFields::array(const char* key) {
  const nlohmann::json* value = take(key);
  if (value == nullptr || value->is_array()) return value;
  complaint_.add(place_of(key), *value, "a list");
  return nullptr;
}

const nlohmann::json* JsonFields::object(const char* key) {
  const nlohmann::json* value = take(key);
  if (value == nullptr || value->is_object()) return value;
  complaint_.add(place_of(key), *value, "an object");
  return nullptr;
}

void JsonFields::finish() {
  if (!object_.is_object()) return;
  for (const auto& [key, value] : object_.items()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    complaint_.add(place_of(key), fmt::format("unknown key; expected one of {}", fmt::join(known_, ", ")));
  }
}

Result<nlohmann::json> parse_json(std::string_view text, const std::string& document) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& wrong) {
    const std::string_view before = text.substr(0, std::min(text.size(), wrong.byte == 0 ? 0 : wrong.byte - 1));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const auto column = before.size() - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0: the first line
    return Error{ErrorKind::usage, fmt::format("{}: line {}, column {}: this is not JSON", document, line, column)};
  } catch (const nlohmann::json::exception& wrong) {  // e.g. a number that no type can hold
    return Error{ErrorKind::usage, fmt::format("{}: {}", document, wrong.what())};
  }
}

}  // namespace forklift
