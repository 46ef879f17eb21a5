#include "launcher/report/json_object.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "launcher/diagnose/decode_status.hpp"
#include "launcher/report/report_words.hpp"

namespace forklift {
namespace {

using Json = nlohmann::ordered_json;

std::string dumped(const Json& value) {
  return value.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

/// Nearly all text is, and then a document for it is most of the work.
bool stands_for_itself(char character) {
  return character >= ' ' && character <= '~' && character != '"' && character != '\\';
}

}  // namespace

std::string json_text(std::string_view text) {
  if (!std::all_of(text.begin(), text.end(), stands_for_itself)) return dumped(text);
  std::string quoted;
  quoted.reserve(text.size() + 2);
  return quoted.append(1, '"').append(text).append(1, '"');
}

std::string json_outcome(const Outcome& outcome) {
  JsonObject object;
  if (const auto* exited = std::get_if<Exited>(&outcome)) {
    object.word("kind", "exited");
    object.number("exit_code", exited->code);
    return std::move(object).finish();
  }
  if (const auto* signalled = std::get_if<Signalled>(&outcome)) {
    object.word("kind", "signalled");
    object.number("signal", signalled->signal);
    object.text("signal_name", signal_name(signalled->signal));
    object.truth("core_dumped", signalled->core_dumped);
    return std::move(object).finish();
  }
  return dumped(outcome_to_json(outcome));
}

void JsonObject::texts(std::string_view key, const std::vector<std::string>& values) {
  std::string list = "[";
  for (const std::string& value : values) {
    if (list.size() > 1) list += ',';
    list += json_text(value);
  }
  field(key, list + "]");
}

}  // namespace forklift
