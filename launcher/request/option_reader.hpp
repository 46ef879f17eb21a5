// Reads given options into the fields of a request. The first thing that is wrong is kept, and nothing is read after
// it: the functions that fill a request are lists of options, without a branch for each error.
#pragma once

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "forklift/request.hpp"
#include "forklift/result.hpp"
#include "launcher/request/given_options.hpp"
#include "launcher/request/option_text.hpp"
#include "launcher/request/value_text.hpp"

namespace forklift {

/// A word of a closed list and what it stands for.
template <class T>
using Word = std::pair<std::string_view, T>;

class OptionReader {
 public:
  /// Does not own `given`, which must outlive it.
  explicit OptionReader(const GivenOptions& given) : given_(given) {}

  /// If the flag was given: `target = *parse(value)`, or the error that `expected` was not seen.
  template <class T, class Parse>
  void read(std::string_view name, T& target, Parse parse, std::string_view expected) {
    const GivenOption* option = given_.find(name);
    if (option == nullptr || error_) return;
    auto value = parse(option->text());
    if (value)
      target = *std::move(value);
    else
      fail(bad_value(*option, expected));
  }

  template <class T>  // int or std::optional<int>
  void number(std::string_view name, NumberRange range, T& target) {
    read(
        name, target, [range](std::string_view text) { return parse_number(text, range); },
        fmt::format("a whole number from {} to {}", range.lowest, range.highest));
  }

  template <class T>  // Duration or std::optional<Duration>
  void duration(std::string_view name, T& target) {
    read(name, target, parse_duration, "a time: seconds, as 30 or 1.5, or 90s, 10m, 2h, HH:MM:SS");
  }

  /// Any text but the empty one.
  void text(std::string_view name, std::string& target, std::string_view expected) {
    const auto not_empty = [](std::string_view text) {
      return text.empty() ? std::nullopt : std::optional<std::string>(text);
    };
    read(name, target, not_empty, expected);
  }

  template <class T, std::size_t N>
  void word(std::string_view name, const std::array<Word<T>, N>& words, T& target) {
    std::string expected;
    for (std::size_t i = 0; i < N; ++i) {
      if (i > 0) expected += i + 1 == N ? " or " : ", ";
      expected += words[i].first;
    }
    const auto parse = [&words](std::string_view text) {
      for (const auto& [known, value] : words)
        if (text == known) return std::optional<T>(value);
      return std::optional<T>();
    };
    read(name, target, parse, expected);
  }

  /// A flag that takes no value.
  template <class T>
  void when_given(std::string_view name, T& target, T value) {
    if (given_.has(name)) target = value;
  }

  /// Keeps the error unless there is an earlier one.
  void fail(Error error) {
    if (!error_) error_ = std::move(error);
  }

  [[nodiscard]] Result<void> result() const { return error_ ? Result<void>(*error_) : Result<void>(); }

 private:
  const GivenOptions& given_;
  std::optional<Error> error_;
};

}  // namespace forklift
