// For any bytes: a manifest is refused with a sentence, or describes tensors inside their parts, each name once, and is
// written again as it was.
#pragma once

#include <set>
#include <string_view>

#include "tests/fuzz/promise.hpp"
#include "worker/format/model_manifest.hpp"

namespace forklift::fuzz {

inline void check_model_manifest(std::string_view bytes) {
  const auto layout = decode_manifest(bytes);
  if (!layout) {
    promise(layout.error().message.starts_with("the manifest of the model is damaged: "),
            "an error says what is damaged");
    promise(layout.error().message.find('\n') == std::string::npos, "an error is one line");
    return;
  }
  std::set<std::string_view> names;
  for (const ModelTensor& tensor : layout.value().tensors) {
    promise(tensor.part < layout.value().parts.size(), "a tensor lies in a part");
    const std::uint64_t length = layout.value().parts[tensor.part].identity.length;
    promise(tensor.offset <= length && tensor.bytes <= length - tensor.offset, "a tensor lies inside its part");
    promise(names.insert(tensor.name).second, "a name is there once");
  }
  promise(stored_bytes(layout.value()) + 1 != 0, "storages can be counted");
  promise(encode_manifest(layout.value()) == bytes, "what was read is written again as it was");
}

}  // namespace forklift::fuzz
