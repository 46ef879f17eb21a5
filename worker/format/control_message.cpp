#include "worker/format/control_message.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

namespace forklift::control {
namespace {

using Json = nlohmann::json;

// ---- writing ------------------------------------------------------------------------------------------------------

bool is_utf8(const std::string& text) {
  try {
    std::ignore = Json(text).dump();
    return true;
  } catch (const Json::type_error&) {
    return false;
  }
}

/// Environment variables and paths are bytes, JSON is text.
Json bytes_or_text(const std::string& bytes) {
  if (is_utf8(bytes)) return bytes;
  Json numbers = Json::array();
  for (const char byte : bytes) numbers.push_back(static_cast<unsigned char>(byte));
  return numbers;
}

Json assignments(const std::vector<EnvironmentVariable>& variables) {
  Json list = Json::array();
  for (const EnvironmentVariable& variable : variables) {
    list.push_back({bytes_or_text(variable.name), bytes_or_text(variable.value)});
  }
  return list;
}

Json names(const std::vector<std::string>& all) {
  Json list = Json::array();
  for (const std::string& name : all) list.push_back(bytes_or_text(name));
  return list;
}

const char* word(Returned::Payload payload) {
  switch (payload) {
    case Returned::Payload::none:
      return "none";
    case Returned::Payload::text:
      return "text";
    case Returned::Payload::bytes:
      return "bytes";
  }
  return "none";
}

/// JSON has no NaN and no infinity, a result may.
Json real(double value) {
  if (std::isfinite(value)) return {{"real", value}};
  return {{"real", std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"}};
}

struct Writer {
  Json operator()(const InMemory&) const { return {{"type", "in_memory"}}; }
  Json operator()(const Ready& m) const { return {{"type", "ready"}, {"threads", names(m.threads)}}; }
  Json operator()(const ForkGroup& m) const {
    return {{"type", "fork_group"},       {"attempt", m.attempt.value}, {"replicas", m.replicas},
            {"supervisor", m.supervisor}, {"set", assignments(m.set)},  {"unset", names(m.unset)}};
  }
  Json operator()(const ForkReplica& m) const {
    return {{"type", "fork_replica"},    {"rank", m.rank.value}, {"local_rank", m.local_rank.value},
            {"set", assignments(m.set)}, {"cpus", m.cpus},       {"foreground", m.foreground == Foreground::yes}};
  }
  Json operator()(const Forked& m) const { return {{"type", "forked"}, {"attempt", m.attempt.value}}; }
  Json operator()(const Hello& m) const {
    return {{"type", "hello"}, {"attempt", m.attempt.value}, {"rank", m.rank.value}};
  }
  Json operator()(const ForkFailed& m) const { return {{"type", "fork_failed"}, {"errno", m.os_errno}}; }
  Json operator()(const Go& m) const { return {{"type", "go"}, {"supervisor", m.supervisor}}; }
  Json operator()(const Returned& m) const {
    struct ValueWriter {
      Json operator()(std::monostate) const { return nullptr; }
      Json operator()(bool value) const { return {{"bool", value}}; }
      Json operator()(std::int64_t value) const { return {{"int", value}}; }
      Json operator()(std::uint64_t value) const { return {{"uint", value}}; }
      Json operator()(double value) const { return real(value); }
    };
    return {{"type", "returned"},
            {"attempt", m.attempt.value},
            {"rank", m.rank.value},
            {"value", std::visit(ValueWriter{}, m.value)},
            {"payload", word(m.payload)}};
  }
  Json operator()(const HostStop& m) const { return {{"type", "stop"}, {"signal", m.signal}}; }
  Json operator()(const HostRefused& m) const {
    return {{"type", "refused"}, {"kind", static_cast<int>(m.kind)}, {"message", m.message}};
  }
  Json operator()(const HostNote& m) const { return {{"type", "note"}, {"text", m.text}}; }
  Json operator()(const RunEnded& m) const {
    return {{"type", "run_ended"}, {"run_directory", bytes_or_text(m.run_directory)}};
  }
};

// ---- reading ------------------------------------------------------------------------------------------------------

/// Reads the fields of one object; the first complaint stays.
class Fields {
 public:
  explicit Fields(const Json& object) : object_(object) {}

  int integer(const char* key, int lowest, int highest) {
    const Json* value = take(key);
    if (value == nullptr) return lowest;
    return number_of(*value, key, lowest, highest);
  }
  bool boolean(const char* key) {
    const Json* value = take(key);
    if (value != nullptr && value->is_boolean()) return value->get<bool>();
    complain(key, "true or false");
    return false;
  }
  std::string text(const char* key) {
    const Json* value = take(key);
    if (value != nullptr && value->is_string()) return value->get<std::string>();
    complain(key, "a text");
    return {};
  }
  std::string bytes(const char* key) {
    const Json* value = take(key);
    return value == nullptr ? std::string{} : bytes_of(*value, key);
  }
  std::vector<std::string> list_of_bytes(const char* key) {
    std::vector<std::string> all;
    for (const Json& each : list(key)) all.push_back(bytes_of(each, key));
    return all;
  }
  std::vector<int> list_of_numbers(const char* key, int highest) {
    std::vector<int> all;
    for (const Json& each : list(key)) all.push_back(number_of(each, key, 0, highest));
    return all;
  }
  std::vector<EnvironmentVariable> assignments(const char* key) {
    std::vector<EnvironmentVariable> all;
    for (const Json& pair : list(key)) {
      if (!pair.is_array() || pair.size() != 2) {
        complain(key, "pairs of name and value");
        return {};
      }
      EnvironmentVariable variable{bytes_of(pair[0], key), bytes_of(pair[1], key)};
      if (variable.name.empty() || variable.name.find('=') != std::string::npos) complain(key, "names of variables");
      all.push_back(std::move(variable));
    }
    return all;
  }
  const Json* take(const char* key) {
    const auto found = object_.find(key);
    if (found != object_.end()) return &*found;
    complain(key, "to be there");
    return nullptr;
  }
  void complain(const char* key, const char* expected) {
    if (complaint_.empty()) complaint_ = std::string(key) + ": expected " + expected;
  }
  [[nodiscard]] const std::string& complaint() const { return complaint_; }

 private:
  int number_of(const Json& value, const char* key, int lowest, int highest) {
    if (value.is_number_integer() && !(value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX)) {
      const auto number = value.get<std::int64_t>();
      if (number >= lowest && number <= highest) return static_cast<int>(number);
    }
    complain(key, "a whole number within its range");
    return lowest;
  }
  std::string bytes_of(const Json& value, const char* key) {
    if (value.is_string()) return without_nul(value.get<std::string>(), key);
    std::string bytes;
    if (!value.is_array()) complain(key, "a text or a list of bytes");
    if (value.is_array()) {
      for (const Json& each : value) bytes += static_cast<char>(number_of(each, key, 1, 255));
    }
    return bytes;
  }
  std::string without_nul(std::string text, const char* key) {
    if (text.find('\0') != std::string::npos) complain(key, "text without NUL");
    return text;
  }
  const Json& list(const char* key) {
    static const Json none = Json::array();
    const Json* value = take(key);
    if (value != nullptr && value->is_array()) return *value;
    complain(key, "a list");
    return none;
  }

  const Json& object_;
  std::string complaint_;
};

constexpr int highest = std::numeric_limits<int>::max();

Returned::Value value_of(Fields& fields) {
  const Json* value = fields.take("value");
  if (value == nullptr || value->is_null()) return std::monostate{};
  if (value->is_object() && value->size() == 1) {
    const auto& kind = value->begin().key();
    const Json& given = value->begin().value();
    if (kind == "bool" && given.is_boolean()) return given.get<bool>();
    if (kind == "uint" && given.is_number_unsigned()) return given.get<std::uint64_t>();
    const bool fits = given.is_number_integer() &&
                      !(given.is_number_unsigned() && given.get<std::uint64_t>() > std::uint64_t{INT64_MAX});
    if (kind == "int" && fits) return given.get<std::int64_t>();
    if (kind == "real" && given.is_number()) return given.get<double>();
    if (kind == "real" && given == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (kind == "real" && given == "inf") return std::numeric_limits<double>::infinity();
    if (kind == "real" && given == "-inf") return -std::numeric_limits<double>::infinity();
  }
  fields.complain("value", "null, or one of bool, int, uint, real");
  return std::monostate{};
}

Returned::Payload payload_of(Fields& fields) {
  const std::string kind = fields.text("payload");
  for (const auto payload : {Returned::Payload::none, Returned::Payload::text, Returned::Payload::bytes}) {
    if (kind == word(payload)) return payload;
  }
  fields.complain("payload", "none, text or bytes");
  return Returned::Payload::none;
}

std::optional<Message> read(const std::string& type, Fields& fields) {
  if (type == "in_memory") return InMemory{};
  if (type == "ready") return Ready{fields.list_of_bytes("threads")};
  if (type == "fork_group") {
    return ForkGroup{Attempt{fields.integer("attempt", 0, highest)}, fields.integer("replicas", 1, highest),
                     fields.integer("supervisor", 1, highest), fields.assignments("set"),
                     fields.list_of_bytes("unset")};
  }
  if (type == "fork_replica") {
    return ForkReplica{Rank{fields.integer("rank", 0, highest)}, LocalRank{fields.integer("local_rank", 0, highest)},
                       fields.assignments("set"), fields.list_of_numbers("cpus", 1 << 20),
                       fields.boolean("foreground") ? Foreground::yes : Foreground::no};
  }
  if (type == "forked") return Forked{Attempt{fields.integer("attempt", 0, highest)}};
  if (type == "hello") {
    return Hello{Attempt{fields.integer("attempt", 0, highest)}, Rank{fields.integer("rank", 0, highest)}};
  }
  if (type == "fork_failed") return ForkFailed{fields.integer("errno", 1, highest)};
  if (type == "go") return Go{fields.integer("supervisor", 1, highest)};
  if (type == "returned") {
    Returned returned;
    returned.attempt = Attempt{fields.integer("attempt", 0, highest)};
    returned.rank = Rank{fields.integer("rank", 0, highest)};
    returned.value = value_of(fields);
    returned.payload = payload_of(fields);
    return returned;
  }
  if (type == "stop") return HostStop{fields.integer("signal", 1, 64)};
  if (type == "refused") {
    return HostRefused{static_cast<ErrorKind>(fields.integer("kind", 0, static_cast<int>(ErrorKind::internal))),
                       fields.text("message")};
  }
  if (type == "note") return HostNote{fields.text("text")};
  if (type == "run_ended") return RunEnded{fields.bytes("run_directory")};
  return std::nullopt;
}

/// Whatever stood there, as a short word on one line.
std::string shown(std::string text) {
  constexpr std::size_t longest = 40;
  const bool cut = text.size() > longest;
  if (cut) text.resize(longest);
  for (char& character : text) {
    if (character < ' ' || character > '~') character = '?';
  }
  return "'" + text + (cut ? "…'" : "'");
}

Error malformed(const std::string& what) { return {ErrorKind::system, "a control message is malformed: " + what}; }

}  // namespace

std::string encode(const Message& message) {
  Json object = std::visit(Writer{}, message);
  object["v"] = version;
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Message> decode(std::string_view text) {
  if (text.size() > largest_message) return malformed("it is longer than 64 MiB");
  const Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return malformed("expected a JSON object");
  Fields fields(object);
  const int seen = fields.integer("v", 0, highest);
  const std::string type = fields.text("type");
  if (!fields.complaint().empty()) return malformed(fields.complaint());
  if (seen != version) return malformed("v: saw " + std::to_string(seen) + ", expected " + std::to_string(version));
  auto message = read(type, fields);
  if (!message) return malformed("type: saw " + shown(type) + ", which nobody sends");
  if (!fields.complaint().empty()) return malformed(type + ": " + fields.complaint());
  return *std::move(message);
}

}  // namespace forklift::control
