// JSON read as it comes by, without a tree: for headers with a hundred thousand entries, and because only so a key that
// is there twice is seen at all.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace forklift {

/// What one document is read by. Each handler returns whether to go on; the first `false` ends the reading, and the
/// handler has kept the reason.
class JsonEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  enum class Kind { object, array };

  virtual bool on_open(Kind kind) = 0;
  virtual bool on_close() = 0;
  virtual bool on_key(std::string& key) = 0;
  virtual bool on_text(std::string& text) = 0;
  virtual bool on_count(std::uint64_t value) = 0;
  /// Any other value, as it is written: a negative or broken number, one beyond 2^64, true, null.
  virtual bool on_other(std::string_view shown) = 0;

  bool null() final { return on_other("null"); }
  bool boolean(bool value) final { return on_other(value ? "true" : "false"); }
  bool number_integer(std::int64_t value) final { return on_other(std::to_string(value)); }
  bool number_unsigned(std::uint64_t value) final { return on_count(value); }
  bool number_float(double, const std::string& shown) final { return on_other(shown); }
  bool string(std::string& text) final { return on_text(text); }
  bool binary(nlohmann::json::binary_t&) final { return on_other("binary"); }
  bool start_object(std::size_t) final { return on_open(Kind::object); }
  bool end_object() final { return on_close(); }
  bool start_array(std::size_t) final { return on_open(Kind::array); }
  bool end_array() final { return on_close(); }
  bool key(std::string& name) final { return on_key(name); }
  bool parse_error(std::size_t position, const std::string& last_token, const nlohmann::detail::exception&) final;

  /// Where and at what the text stops to be JSON; empty if it never did.
  [[nodiscard]] const std::string& syntax_error() const { return syntax_error_; }

 protected:
  JsonEvents() = default;
  ~JsonEvents() = default;

 private:
  std::string syntax_error_;
};

/// Reads one JSON document, which is an object. False if a handler ended the reading or the text is no such document;
/// the latter is told by syntax_error().
bool read_json(std::string_view text, JsonEvents& events);

/// The reason for which `text` cannot be such a document, before anything of it is read; empty if it may be one. (The
/// parser would take a byte order mark, and a NUL for the end of the text.)
std::string not_an_object(std::string_view text);

}  // namespace forklift
