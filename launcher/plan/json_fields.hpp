// Reads fields of a JSON object strictly, and says where the first wrong one is.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forklift/result.hpp"

namespace forklift {

/// The first thing that is wrong with a document; later complaints are dropped.
class JsonComplaint {
 public:
  /// `document` names the whole in messages, e.g. "host facts".
  explicit JsonComplaint(std::string document) : document_(std::move(document)) {}

  /// "host facts: cores[2].cpus: saw "x", expected a list of CPU numbers"
  void add(const std::string& place, const nlohmann::json& seen, std::string_view expected);
  void add(const std::string& place, std::string_view what);

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  std::string document_;
  std::optional<Error> error_;
};

/// One object of a document. Each read takes one key; a key that is absent leaves the target as it is; finish()
/// complains of keys that nobody read. Refers to the object and the complaint, which must outlive it.
class JsonFields {
 public:
  JsonFields(const nlohmann::json& object, std::string place, JsonComplaint& complaint);

  void read(const char* key, std::string& target);
  void read(const char* key, std::uint64_t& target);
  void read(const char* key, std::optional<std::uint64_t>& target);  ///< null: empty
  void read_integer(const char* key, int lowest, int highest, int& target);
  void read_positive(const char* key, std::optional<double>& target);  ///< null: empty

  /// The value of a key that must be an array (or object), or nullptr if it is absent or wrong.
  const nlohmann::json* array(const char* key);
  const nlohmann::json* object(const char* key);

  void finish();
  [[nodiscard]] std::string place_of(std::string_view key) const;

 private:
  const nlohmann::json* take(const char* key);

  const nlohmann::json& object_;
  std::string place_;  ///< Empty: the document itself.
  JsonComplaint& complaint_;
  std::vector<std::string> known_;
};

/// The document, or an error that says in which line and column it stops being JSON.
Result<nlohmann::json> parse_json(std::string_view text, const std::string& document);

}  // namespace forklift
