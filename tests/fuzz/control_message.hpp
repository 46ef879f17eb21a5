// For any bytes: a control message, which is written and read again unchanged, or one sentence.
#pragma once

#include <string_view>

#include "tests/fuzz/promise.hpp"
#include "worker/format/control_message.hpp"

namespace forklift::fuzz {

inline void check_control_message(std::string_view bytes) {
  const Result<control::Message> message = control::decode(bytes);
  if (!message) {
    const std::string& sentence = message.error().message;
    promise(sentence.starts_with("a control message is malformed: "), "an error says what is malformed");
    promise(sentence.find('\n') == std::string::npos && sentence.size() < 200, "an error is one line");
    return;
  }
  const std::string packet = control::encode(message.value());
  const Result<control::Message> again = control::decode(packet);
  promise(again.ok(), "what was written can be read");
  promise(again.value().index() == message.value().index(), "a message keeps its type");
  promise(control::encode(again.value()) == packet, "reading and writing change nothing");
}

}  // namespace forklift::fuzz
