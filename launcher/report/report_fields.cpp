#include "launcher/report/report_fields.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace forklift {
namespace {

using Json = ReportFields::Json;

const Json& empty_object() {
  static const Json empty = Json::object();
  return empty;
}

bool is_int(const Json& value) {
  if (value.is_number_unsigned()) {
    return value.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<int>::max());
  }
  if (!value.is_number_integer()) return false;
  const auto number = value.get<std::int64_t>();
  return number >= std::numeric_limits<int>::min() && number <= std::numeric_limits<int>::max();
}

}  // namespace

ReportFields::ReportFields(const Json& value, std::string place, std::optional<Error>& error)
    : value_(&value), place_(std::move(place)), error_(&error) {
  if (value.is_object()) return;
  if (!*error_) {
    *error_ = Error{ErrorKind::usage, fmt::format("{}: is {}, expected an object", place_, value.type_name())};
  }
  value_ = &empty_object();
}

bool ReportFields::has(const char* key) const { return value_->contains(key); }

void ReportFields::fail(const char* key, std::string_view expected, std::string_view seen) {
  if (*error_) return;
  *error_ = Error{ErrorKind::usage, fmt::format("{}: '{}' is {}, expected {}", place_, key, seen, expected)};
}

const Json* ReportFields::find(const char* key, std::string_view expected) {
  const auto found = value_->find(key);
  if (found != value_->end()) return &*found;
  fail(key, expected, "missing");
  return nullptr;
}

std::string ReportFields::place_of(const char* key) const { return fmt::format("{}: {}", place_, key); }

std::string ReportFields::text(const char* key) {
  constexpr std::string_view expected = "a text";
  const Json* value = find(key, expected);
  if (value == nullptr) return {};
  if (value->is_string()) return value->get<std::string>();
  fail(key, expected, value->type_name());
  return {};
}

std::optional<std::string> ReportFields::text_or_null(const char* key) {
  const Json* value = find(key, "a text or null");
  if (value == nullptr || value->is_null()) return std::nullopt;
  return text(key);
}

std::vector<std::string> ReportFields::texts(const char* key) {
  constexpr std::string_view expected = "a list of texts";
  const Json* value = find(key, expected);
  std::vector<std::string> found;
  if (value == nullptr) return found;
  if (!value->is_array()) {
    fail(key, expected, value->type_name());
    return found;
  }
  for (const Json& element : *value) {
    if (!element.is_string()) {
      fail(key, expected, fmt::format("a list with {}", element.type_name()));
      return {};
    }
    found.push_back(element.get<std::string>());
  }
  return found;
}

int ReportFields::integer(const char* key) {
  constexpr std::string_view expected = "a whole number";
  const Json* value = find(key, expected);
  if (value == nullptr) return 0;
  if (is_int(*value)) return value->get<int>();
  fail(key, expected, value->is_number() ? value->dump() : value->type_name());
  return 0;
}

int ReportFields::integer_within(const char* key, int lowest, int highest) {
  const Json* value = find(key, "a whole number");
  if (value == nullptr) return lowest;
  if (is_int(*value)) {
    const int number = value->get<int>();
    if (number >= lowest && number <= highest) return number;
  }
  fail(key, fmt::format("a whole number from {} to {}", lowest, highest),
       value->is_number() ? value->dump() : value->type_name());
  return lowest;
}

int ReportFields::natural(const char* key) {
  constexpr int highest = 1'000'000'000;
  return integer_within(key, 0, highest);
}

std::optional<int> ReportFields::natural_or_null(const char* key) {
  const Json* value = find(key, "a whole number or null");
  if (value == nullptr || value->is_null()) return std::nullopt;
  return natural(key);
}

std::int64_t ReportFields::wide_integer(const char* key) {
  constexpr std::string_view expected = "a whole number";
  const Json* value = find(key, expected);
  if (value == nullptr) return 0;
  constexpr auto highest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const bool too_large = value->is_number_unsigned() && value->get<std::uint64_t>() > highest;
  if (value->is_number_integer() && !too_large) return value->get<std::int64_t>();
  fail(key, expected, value->is_number() ? value->dump() : value->type_name());
  return 0;
}

std::optional<std::int64_t> ReportFields::wide_integer_or_null(const char* key) {
  const Json* value = find(key, "a whole number or null");
  if (value == nullptr || value->is_null()) return std::nullopt;
  return wide_integer(key);
}

std::optional<int> ReportFields::integer_or_null(const char* key) {
  const Json* value = find(key, "a whole number or null");
  if (value == nullptr || value->is_null()) return std::nullopt;
  return integer(key);
}

double ReportFields::number(const char* key) {
  constexpr std::string_view expected = "a number";
  const Json* value = find(key, expected);
  if (value == nullptr) return 0;
  if (value->is_number()) return value->get<double>();
  fail(key, expected, value->type_name());
  return 0;
}

std::optional<double> ReportFields::number_or_null(const char* key) {
  const Json* value = find(key, "a number or null");
  if (value == nullptr || value->is_null()) return std::nullopt;
  return number(key);
}

std::optional<std::uint64_t> ReportFields::count_or_null(const char* key) {
  constexpr std::string_view expected = "a number of bytes or null";
  const Json* value = find(key, expected);
  if (value == nullptr || value->is_null()) return std::nullopt;
  if (value->is_number_unsigned()) return value->get<std::uint64_t>();
  fail(key, expected, value->is_number() ? value->dump() : value->type_name());
  return std::nullopt;
}

bool ReportFields::truth(const char* key) {
  constexpr std::string_view expected = "true or false";
  const Json* value = find(key, expected);
  if (value == nullptr) return false;
  if (value->is_boolean()) return value->get<bool>();
  fail(key, expected, value->type_name());
  return false;
}

ReportFields ReportFields::object(const char* key) {
  const Json* value = find(key, "an object");
  return {value == nullptr ? empty_object() : *value, place_of(key), *error_};
}

std::optional<ReportFields> ReportFields::object_or_null(const char* key) {
  const Json* value = find(key, "an object or null");
  if (value == nullptr || value->is_null()) return std::nullopt;
  return ReportFields(*value, place_of(key), *error_);
}

std::vector<ReportFields> ReportFields::objects(const char* key) {
  constexpr std::string_view expected = "a list of objects";
  const Json* value = find(key, expected);
  std::vector<ReportFields> found;
  if (value == nullptr) return found;
  if (!value->is_array()) {
    fail(key, expected, value->type_name());
    return found;
  }
  for (std::size_t at = 0; at < value->size(); ++at) {
    found.emplace_back((*value)[at], fmt::format("{}: {}[{}]", place_, key, at), *error_);
  }
  return found;
}

}  // namespace forklift
