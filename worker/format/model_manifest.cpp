#include "worker/format/model_manifest.hpp"

#include <fmt/core.h>

#include <charconv>
#include <limits>

#include "worker/format/byte_cursor.hpp"
#include "worker/format/model_aliases.hpp"
#include "worker/format/quoted.hpp"
#include "worker/format/tensor_size.hpp"

namespace forklift {
namespace {

constexpr std::string_view magic = "forklift model 1";

void append_numbers(std::string& bytes, const std::vector<std::uint64_t>& numbers) {
  append_number(bytes, static_cast<std::uint32_t>(numbers.size()));
  for (const std::uint64_t number : numbers) append_number(bytes, number);
}

void append(std::string& bytes, const ModelPart& part) {
  append_number(bytes, static_cast<std::uint8_t>(part.kind));
  append_text(bytes, part.path);
  append_number(bytes, part.identity.device);
  append_number(bytes, part.identity.inode);
  append_number(bytes, part.identity.length);
  append_number(bytes, static_cast<std::uint64_t>(part.identity.modified_ns));
  append_number(bytes, static_cast<std::uint32_t>(part.descriptor));
}

void append(std::string& bytes, const ModelTensor& tensor) {
  append_text(bytes, tensor.name);
  append_number(bytes, static_cast<std::uint8_t>(tensor.dtype));
  append_numbers(bytes, tensor.shape);
  append_numbers(bytes, tensor.strides);
  append_number(bytes, tensor.part);
  append_number(bytes, tensor.offset);
  append_number(bytes, tensor.bytes);
}

std::vector<std::uint64_t> read_numbers(ByteCursor& cursor) {
  std::vector<std::uint64_t> numbers;
  // Never more than can follow: the count itself is not to be trusted.
  for (std::uint64_t left = cursor.count(sizeof(std::uint64_t)); left > 0 && cursor.ok(); --left) {
    numbers.push_back(cursor.number<std::uint64_t>());
  }
  return numbers;
}

ModelPart read_part(ByteCursor& cursor) {
  ModelPart part;
  part.kind = cursor.one_of<PartKind>(static_cast<std::uint8_t>(PartKind::huge_tmpfs), "kind of part");
  part.path = cursor.text();
  part.identity.device = cursor.number<std::uint64_t>();
  part.identity.inode = cursor.number<std::uint64_t>();
  part.identity.length = cursor.number<std::uint64_t>();
  part.identity.modified_ns = static_cast<std::int64_t>(cursor.number<std::uint64_t>());
  part.descriptor = static_cast<int>(cursor.number<std::uint32_t>());
  return part;
}

ModelTensor read_tensor(ByteCursor& cursor) {
  ModelTensor tensor;
  tensor.name = cursor.text();
  tensor.dtype = cursor.one_of<Dtype>(static_cast<std::uint8_t>(dtype_table.size() - 1), "dtype");
  tensor.shape = read_numbers(cursor);
  tensor.strides = read_numbers(cursor);
  tensor.part = cursor.number<std::uint32_t>();
  tensor.offset = cursor.number<std::uint64_t>();
  tensor.bytes = cursor.number<std::uint64_t>();
  return tensor;
}

/// Why a part cannot be what it says; empty if it can.
std::string wrong_with(const ModelPart& part, ModelAccess access) {
  if (part.descriptor < 0) return "a part has no descriptor";
  if (part.identity.length > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return "a part is longer than any file";
  }
  if (part.kind == PartKind::file && access == ModelAccess::shared) return "a file is to be written to";
  return {};
}

std::string wrong_with(const ModelTensor& tensor, const std::vector<ModelPart>& parts) {
  if (tensor.part >= parts.size()) return fmt::format("it lies in part {} of {}", tensor.part, parts.size());
  if (const auto bytes = strided_bytes(tensor.dtype, tensor.shape, tensor.strides); bytes != tensor.bytes) {
    return fmt::format("{} bytes do not fit {} {}", tensor.bytes, name_of(tensor.dtype), shape_text(tensor.shape));
  }
  const auto end = checked_add(tensor.offset, tensor.bytes);
  const std::uint64_t length = parts[tensor.part].identity.length;
  if (!end || *end > length) {
    return fmt::format("its {} bytes at {} reach beyond the {} of its part", tensor.bytes, tensor.offset, length);
  }
  return {};
}

Error malformed(std::string_view what) {
  return {ErrorKind::usage, fmt::format("the manifest of the model is damaged: {}", what)};
}

/// Why a layout that could be read cannot be trusted; empty if it can.
std::string wrong_with(const ModelLayout& layout) {
  for (const ModelPart& part : layout.parts) {
    if (auto reason = wrong_with(part, layout.access); !reason.empty()) return reason;
  }
  for (const ModelTensor& tensor : layout.tensors) {
    if (auto reason = wrong_with(tensor, layout.parts); !reason.empty()) {
      return fmt::format("tensor {}: {}", in_quotes(tensor.name), reason);
    }
  }
  if (const std::string* twice = TensorNames(layout.tensors).twice())
    return "tensor " + in_quotes(*twice) + " is there twice";
  return {};
}

std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

std::string encode_manifest(const ModelLayout& layout) {
  std::string bytes(magic);
  append_number(bytes, static_cast<std::uint8_t>(layout.access));
  append_text(bytes, layout.path);
  append_number(bytes, static_cast<std::uint32_t>(layout.parts.size()));
  for (const ModelPart& part : layout.parts) append(bytes, part);
  append_number(bytes, static_cast<std::uint32_t>(layout.tensors.size()));
  for (const ModelTensor& tensor : layout.tensors) append(bytes, tensor);
  return bytes;
}

Result<ModelLayout> decode_manifest(std::string_view bytes) {
  if (!bytes.starts_with(magic)) return malformed("it does not begin as one of this version does");
  ByteCursor cursor(bytes, magic.size());
  ModelLayout layout;
  layout.access = cursor.one_of<ModelAccess>(static_cast<std::uint8_t>(ModelAccess::shared), "access");
  layout.path = cursor.text();
  constexpr std::size_t smallest_part = 41;    // Its numbers, and the length of an empty path.
  constexpr std::size_t smallest_tensor = 33;  // Likewise.
  for (auto left = cursor.count(smallest_part); left > 0 && cursor.ok(); --left)
    layout.parts.push_back(read_part(cursor));
  for (auto left = cursor.count(smallest_tensor); left > 0 && cursor.ok(); --left) {
    layout.tensors.push_back(read_tensor(cursor));
  }
  cursor.expect_end();
  if (!cursor.ok()) return malformed(cursor.reason());
  if (auto reason = wrong_with(layout); !reason.empty()) return malformed(reason);
  return layout;
}

std::string descriptors_text(const ModelDescriptors& descriptors) {
  std::string text = std::to_string(descriptors.manifest);
  for (std::size_t i = 0; i < descriptors.parts.size(); ++i) {
    text += (i == 0 ? ':' : ',') + std::to_string(descriptors.parts[i]);
  }
  return text;
}

std::optional<ModelDescriptors> parse_descriptors(std::string_view text) {
  ModelDescriptors descriptors;
  const auto manifest = take_number(text);
  if (!manifest) return std::nullopt;
  descriptors.manifest = *manifest;
  for (char separator = ':'; !text.empty(); separator = ',') {
    if (text.front() != separator) return std::nullopt;
    text.remove_prefix(1);
    const auto part = take_number(text);
    if (!part) return std::nullopt;
    descriptors.parts.push_back(*part);
  }
  return descriptors;
}

}  // namespace forklift
