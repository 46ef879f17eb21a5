// One JSON object as one line of text, written from left to right without a document: events and replicas come by the
// thousand.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "forklift/ids.hpp"
#include "forklift/outcome.hpp"

namespace forklift {

/// Text as JSON, quotes included; what is no UTF-8 is replaced.
std::string json_text(std::string_view text);

/// As outcome_to_json writes it.
std::string json_outcome(const Outcome& outcome);

/// Every method adds one field.
class JsonObject {
 public:
  template <class Number>
  requires std::is_arithmetic_v<Number> &&
      (!std::is_same_v<Number, bool>)void number(std::string_view key, Number value) {
    field(key, value);
  }
  void text(std::string_view key, std::string_view value) { field(key, json_text(value)); }
  /// A word of an enum: never needs escaping.
  void word(std::string_view key, std::string_view value) { field(key, quoted(value)); }
  void texts(std::string_view key, const std::vector<std::string>& values);
  void outcome(std::string_view key, const Outcome& value) { field(key, json_outcome(value)); }
  void truth(std::string_view key, bool value) { field(key, std::string_view(value ? "true" : "false")); }
  void null(std::string_view key) { field(key, std::string_view("null")); }

  template <class Number>
  void number_or_null(std::string_view key, const std::optional<Number>& value) {
    value ? number(key, *value) : null(key);
  }
  void text_or_null(std::string_view key, std::string_view value) { value.empty() ? null(key) : text(key, value); }

  /// Nothing where there is no value.
  template <class Number>
  void number_if_any(std::string_view key, const std::optional<Number>& value) {
    if (value) number(key, *value);
  }
  template <class Tag>
  void number_if_any(std::string_view key, const std::optional<Id<Tag>>& value) {
    if (value) number(key, value->value);
  }
  void text_if_any(std::string_view key, std::string_view value) {
    if (!value.empty()) text(key, value);
  }

  /// The whole object.
  [[nodiscard]] std::string finish() && {
    if (line_.empty()) line_ = '{';
    return std::move(line_) + "}";
  }

 private:
  static std::string quoted(std::string_view word) { return std::string(1, '"').append(word).append(1, '"'); }

  template <class Value>
  void field(std::string_view key, const Value& value) {
    line_ += line_.empty() ? '{' : ',';
    line_.append(1, '"').append(key).append("\":");
    if constexpr (std::is_arithmetic_v<Value>) {
      fmt::format_to(std::back_inserter(line_), "{}", value);
    } else {
      line_.append(value);
    }
  }
  std::string line_;
};

}  // namespace forklift
