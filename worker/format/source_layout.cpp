#include "worker/format/source_layout.hpp"

#include <fmt/core.h>

#include "worker/format/quoted.hpp"
#include "worker/format/storages.hpp"
#include "worker/format/tensor_size.hpp"
#include "worker/format/utf8.hpp"

namespace forklift {
namespace {

Error refused(const std::string& name, std::string_view why) {
  return {ErrorKind::usage, fmt::format("tensor {} cannot be shared: {}", in_quotes(name), why)};
}

bool is_row_major(const std::vector<std::uint64_t>& shape, const std::vector<std::uint64_t>& strides) {
  std::uint64_t expected = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];  // Does not overflow: the number of elements was checked.
  }
  return true;
}

/// Strides in elements, empty for row-major; or why there are none.
Result<std::vector<std::uint64_t>> read_strides(const SourceTensor& tensor) {
  if (tensor.strides.empty()) return std::vector<std::uint64_t>();
  if (tensor.strides.size() != tensor.shape.size()) {
    return refused(tensor.name,
                   fmt::format("it has {} strides for {} dimensions", tensor.strides.size(), tensor.shape.size()));
  }
  const std::uint64_t bits = facts_of(tensor.dtype).bits;
  if (bits % 8 != 0)
    return refused(tensor.name, fmt::format("{} has no strides in whole bytes", name_of(tensor.dtype)));
  std::vector<std::uint64_t> strides;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    const std::int64_t given = tensor.strides[i];
    if (tensor.shape[i] <= 1) {
      strides.push_back(1);  // Never taken.
      continue;
    }
    if (given < 0) {
      return refused(tensor.name,
                     fmt::format("dimension {} runs backwards (stride {}); pass a copy in order", i, given));
    }
    const auto positive = static_cast<std::uint64_t>(given);
    if (tensor.stride_unit == SourceTensor::StrideUnit::elements) {
      strides.push_back(positive);
      continue;
    }
    if (positive % (bits / 8) != 0) {
      return refused(tensor.name,
                     fmt::format("dimension {} has a stride of {} bytes, which is no multiple of the {} of an element",
                                 i, given, bits / 8));
    }
    strides.push_back(positive / (bits / 8));
  }
  if (is_row_major(tensor.shape, strides)) strides.clear();
  return strides;
}

ModelTensor placed(const CheckedTensor& tensor, std::uint64_t offset) {
  return {tensor.name, tensor.dtype, tensor.shape, tensor.strides, 0, offset, tensor.bytes};
}

/// A tensor of its own that would be smaller in row-major order: a column of a matrix, every second row.
bool is_to_be_packed(const Storage& storage, const CheckedTensor& first) {
  return storage.members.size() == 1 && first.row_major_bytes < first.bytes;
}

}  // namespace

Result<CheckedTensor> check_source(SourceTensor tensor) {
  if (!is_utf8(tensor.name)) return refused(tensor.name, "its name is not in UTF-8");
  const auto size = tensor_bytes(tensor.dtype, tensor.shape);
  if (const auto* const fault = std::get_if<SizeFault>(&size)) {
    return refused(tensor.name, describe(*fault, tensor.dtype, tensor.shape));
  }
  CheckedTensor checked;
  checked.row_major_bytes = std::get<std::uint64_t>(size);
  if (tensor.data == nullptr && checked.row_major_bytes > 0) return refused(tensor.name, "its data is a null pointer");
  if (checked.row_major_bytes > 0) {
    auto strides = read_strides(tensor);
    if (!strides) return strides.error();
    checked.strides = std::move(strides).value();
  }
  checked.address = reinterpret_cast<std::uintptr_t>(tensor.data);
  const auto bytes = strided_bytes(tensor.dtype, tensor.shape, checked.strides);
  if (!bytes || !checked_add(checked.address, *bytes)) {
    return refused(tensor.name, fmt::format("shape {} with its strides reaches beyond 2^64", shape_text(tensor.shape)));
  }
  checked.bytes = *bytes;
  checked.name = std::move(tensor.name);
  checked.dtype = tensor.dtype;
  checked.shape = std::move(tensor.shape);
  checked.storage = tensor.storage;
  return checked;
}

Result<SourceLayout> lay_out(const std::vector<CheckedTensor>& tensors) {
  std::vector<ByteRange> ranges;
  for (const CheckedTensor& tensor : tensors) {
    ranges.push_back({0, tensor.address, tensor.address + tensor.bytes, tensor.storage});
  }
  SourceLayout layout;
  for (const CheckedTensor& tensor : tensors) layout.tensors.push_back(placed(tensor, 0));

  for (const Storage& storage : find_storages(ranges)) {
    const std::size_t first = storage.members.front();
    const CheckedTensor& tensor = tensors[first];
    const bool packed = is_to_be_packed(storage, tensor);
    const std::uint64_t place = place_behind(layout.length, storage, ranges);
    const std::uint64_t length = packed ? tensor.row_major_bytes : storage.end - storage.begin;
    for (const std::size_t member : storage.members) {
      layout.tensors[member].offset = place + (ranges[member].begin - storage.begin);
    }
    if (packed) {
      layout.tensors[first].strides.clear();
      layout.tensors[first].bytes = length;
      layout.notes.push_back(fmt::format("tensor {} was packed: {} bytes of the {} that it spans are its own",
                                         in_quotes(tensor.name), length, tensor.bytes));
    }
    layout.runs.push_back({storage.begin, place, length, packed ? std::optional(first) : std::nullopt});
    const auto end = checked_add(place, length);
    if (!end) return Error{ErrorKind::usage, "the tensors together are larger than any address space"};
    layout.length = *end;
  }
  return layout;
}

}  // namespace forklift
