// How many bytes a tensor has; every step checked for overflow.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "forklift/dtype.hpp"

namespace forklift {

/// a + b and a * b, or empty if that is beyond 2^64 - 1.
constexpr std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}
constexpr std::optional<std::uint64_t> checked_multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

/// Why a tensor has no size.
enum class SizeFault {
  elements_overflow,  ///< The product of the dimensions.
  bits_overflow,      ///< That times the bits of an element.
  partial_byte,       ///< The last byte would be used in part (F4, F6_*).
};

/// Bytes of the elements in row-major order. A scalar (no dimension) has one element, a dimension 0 makes none.
std::variant<std::uint64_t, SizeFault> tensor_bytes(Dtype dtype, std::span<const std::uint64_t> shape);

/// "the elements of shape [2, 18446744073709551614] are more than 2^64": the fault in words.
std::string describe(SizeFault fault, Dtype dtype, std::span<const std::uint64_t> shape);

/// Bytes from the first element to the end of the last with these strides (in elements, as many as dimensions; empty:
/// row-major). Strides are for whole bytes only. Empty: beyond 2^64, or a wrong number of strides.
std::optional<std::uint64_t> strided_bytes(Dtype dtype, std::span<const std::uint64_t> shape,
                                           std::span<const std::uint64_t> strides);

/// "[2, 3]"; long ones are cut.
std::string shape_text(std::span<const std::uint64_t> shape);

}  // namespace forklift
