// Reads the fields of a JSON object one by one; the first field that is missing or mistyped becomes the error.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forklift/result.hpp"

namespace forklift {

/// A view of one object within a document. Readers give an empty value after an error, so that a caller reads all
/// fields in a row and looks at the error once, at the end. The document and the error must outlive the view.
class ReportFields {
 public:
  using Json = nlohmann::ordered_json;

  /// `place` names the object in errors: "report.json", "report.json: replicas[3]".
  ReportFields(const Json& value, std::string place, std::optional<Error>& error);

  [[nodiscard]] std::string text(const char* key);
  [[nodiscard]] std::optional<std::string> text_or_null(const char* key);
  [[nodiscard]] std::vector<std::string> texts(const char* key);
  [[nodiscard]] int integer(const char* key);
  /// `lowest` … `highest`; `lowest` after an error.
  [[nodiscard]] int integer_within(const char* key, int lowest, int highest);
  /// A rank, a pid, a count: 0 … 1,000,000,000, so that sums of two never overflow.
  [[nodiscard]] int natural(const char* key);
  [[nodiscard]] std::optional<int> natural_or_null(const char* key);
  [[nodiscard]] std::int64_t wide_integer(const char* key);
  [[nodiscard]] std::optional<std::int64_t> wide_integer_or_null(const char* key);
  [[nodiscard]] std::optional<int> integer_or_null(const char* key);
  [[nodiscard]] double number(const char* key);
  [[nodiscard]] std::optional<double> number_or_null(const char* key);
  [[nodiscard]] std::optional<std::uint64_t> count_or_null(const char* key);
  [[nodiscard]] bool truth(const char* key);

  /// An object; an empty one after an error.
  [[nodiscard]] ReportFields object(const char* key);
  [[nodiscard]] std::optional<ReportFields> object_or_null(const char* key);
  [[nodiscard]] std::vector<ReportFields> objects(const char* key);

  /// A word of an enum: `of_name` gives empty for a word that does not exist.
  template <class Enum>
  [[nodiscard]] Enum word(const char* key, std::optional<Enum> (*of_name)(std::string_view)) {
    const std::string name = text(key);
    const std::optional<Enum> value = of_name(name);
    if (!value) fail(key, "a word of this version", "'" + name + "'");
    return value.value_or(Enum{});
  }

  [[nodiscard]] bool has(const char* key) const;

  /// Records "PLACE: 'KEY' is SEEN, expected EXPECTED" unless there is an error already.
  void fail(const char* key, std::string_view expected, std::string_view seen);

 private:
  const Json* find(const char* key, std::string_view expected);
  std::string place_of(const char* key) const;

  const Json* value_;
  std::string place_;
  std::optional<Error>* error_;
};

}  // namespace forklift
