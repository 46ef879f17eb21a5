#include "worker/format/tensor_size.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace forklift {

std::variant<std::uint64_t, SizeFault> tensor_bytes(Dtype dtype, std::span<const std::uint64_t> shape) {
  std::uint64_t elements = 1;
  for (const std::uint64_t dimension : shape) {
    const auto product = checked_multiply(elements, dimension);
    if (!product) return SizeFault::elements_overflow;
    elements = *product;
  }
  const auto bits = checked_multiply(elements, facts_of(dtype).bits);
  if (!bits) return SizeFault::bits_overflow;
  if (*bits % 8 != 0) return SizeFault::partial_byte;
  return *bits / 8;
}

std::string describe(SizeFault fault, Dtype dtype, std::span<const std::uint64_t> shape) {
  switch (fault) {
    case SizeFault::elements_overflow:
      return fmt::format("the number of elements of shape {} is beyond 2^64", shape_text(shape));
    case SizeFault::bits_overflow:
      return fmt::format("the bits of {} {} are beyond 2^64", name_of(dtype), shape_text(shape));
    case SizeFault::partial_byte:
      return fmt::format("{} {} is not a whole number of bytes ({} bits an element)", name_of(dtype), shape_text(shape),
                         facts_of(dtype).bits);
  }
  return {};
}

std::optional<std::uint64_t> strided_bytes(Dtype dtype, std::span<const std::uint64_t> shape,
                                           std::span<const std::uint64_t> strides) {
  const auto row_major = tensor_bytes(dtype, shape);
  const auto* const bytes = std::get_if<std::uint64_t>(&row_major);
  if (bytes == nullptr) return std::nullopt;
  if (strides.empty() || *bytes == 0) return *bytes;
  if (strides.size() != shape.size() || facts_of(dtype).bits % 8 != 0) return std::nullopt;
  std::uint64_t last = 0;  // Index of the last element.
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto step = checked_multiply(shape[i] - 1, strides[i]);
    const auto sum = step ? checked_add(last, *step) : std::nullopt;
    if (!sum) return std::nullopt;
    last = *sum;
  }
  const auto count = checked_add(last, 1);
  return count ? checked_multiply(*count, facts_of(dtype).bits / 8U) : std::nullopt;
}

std::string shape_text(std::span<const std::uint64_t> shape) {
  constexpr std::size_t most = 16;
  std::string text = "[";
  for (std::size_t i = 0; i < std::min(shape.size(), most); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  if (shape.size() > most) text += fmt::format(", … {} dimensions", shape.size());
  return text + "]";
}

}  // namespace forklift
