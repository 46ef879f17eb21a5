#include "worker/format/error_file.hpp"

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

namespace forklift {
namespace {

using Json = nlohmann::json;

const Json* find(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string text_at(const Json& object, const char* key) {
  const Json* value = find(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string{};
}

std::optional<std::int64_t> whole_seconds(const Json& value) {
  if (value.is_number_float()) {
    const double seconds = value.get<double>();
    constexpr double limit = 1e15;  // far beyond any date, far below where a double stops counting seconds
    if (!(seconds > -limit && seconds < limit)) return std::nullopt;
    return static_cast<std::int64_t>(seconds);
  }
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return std::nullopt;
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end == text.data()) return std::nullopt;
  return seconds;
}

std::optional<std::int64_t> timestamp_at(const Json& object) {
  const Json* value = find(object, "timestamp");
  return value == nullptr ? std::nullopt : whole_seconds(*value);
}

std::optional<int> error_code_at(const Json& object) {
  const Json* value = find(object, "errorCode");
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  const auto code = value->get<std::int64_t>();
  if (code < std::numeric_limits<int>::min() || code > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(code);
}

ErrorFile read_plain_form(const Json& root, const std::string& message) {
  ErrorFile file;
  file.exception = split_exception_line(message);
  file.timestamp_s = timestamp_at(root);
  return file;
}

ErrorFile read_record_form(const Json& message) {
  ErrorFile file;
  file.exception = split_exception_line(text_at(message, "message"));
  file.error_code = error_code_at(message);
  if (const Json* extra = find(message, "extraInfo")) {
    file.traceback = text_at(*extra, "py_callstack");
    file.timestamp_s = timestamp_at(*extra);
  }
  return file;
}

}  // namespace

std::optional<ErrorFile> parse_error_file(std::string_view json) {
  const Json root = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  const Json* message = find(root, "message");
  if (message == nullptr) return std::nullopt;
  ErrorFile file =
      message->is_string() ? read_plain_form(root, message->get<std::string>()) : read_record_form(*message);
  if (file.exception == ExceptionLine{}) return std::nullopt;
  return file;
}

std::string write_error_file(std::string_view message, std::string_view traceback, std::int64_t timestamp_s) {
  const Json extra{{"py_callstack", std::string(traceback)}, {"timestamp", std::to_string(timestamp_s)}};
  const Json root{{"message", {{"message", std::string(message)}, {"extraInfo", extra}}}};
  return root.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace forklift
