// The element types of tensors, with the names that safetensors files use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace forklift {

/// In the order of the format, which is that of growing alignment (safetensors: src/tensor.rs).
enum class Dtype : std::uint8_t {
  boolean,
  f4,  ///< Two elements a byte.
  f6_e2m3,
  f6_e3m2,
  u8,
  i8,
  f8_e5m2,
  f8_e4m3,
  f8_e8m0,
  f8_e4m3fnuz,
  f8_e5m2fnuz,
  i16,
  u16,
  f16,
  bf16,
  i32,
  u32,
  f32,
  c64,  ///< Complex, two 32-bit parts.
  f64,
  i64,
  u64,
};

struct DtypeFacts {
  std::string_view name;     ///< As a safetensors header writes it.
  std::uint8_t bits = 0;     ///< Of one element.
  std::uint8_t aligned = 0;  ///< Bytes by which the address of an element must be divisible for direct use.
};

inline constexpr std::array<DtypeFacts, 22> dtype_table = {{
    {"BOOL", 8, 1},        {"F4", 4, 1},      {"F6_E2M3", 6, 1}, {"F6_E3M2", 6, 1}, {"U8", 8, 1},
    {"I8", 8, 1},          {"F8_E5M2", 8, 1}, {"F8_E4M3", 8, 1}, {"F8_E8M0", 8, 1}, {"F8_E4M3FNUZ", 8, 1},
    {"F8_E5M2FNUZ", 8, 1}, {"I16", 16, 2},    {"U16", 16, 2},    {"F16", 16, 2},    {"BF16", 16, 2},
    {"I32", 32, 4},        {"U32", 32, 4},    {"F32", 32, 4},    {"C64", 64, 4},    {"F64", 64, 8},
    {"I64", 64, 8},        {"U64", 64, 8},
}};

constexpr const DtypeFacts& facts_of(Dtype dtype) { return dtype_table[static_cast<std::size_t>(dtype)]; }

constexpr std::string_view name_of(Dtype dtype) { return facts_of(dtype).name; }

/// The type that a header calls `name`; empty if there is none.
constexpr std::optional<Dtype> dtype_named(std::string_view name) {
  for (std::size_t i = 0; i < dtype_table.size(); ++i) {
    if (dtype_table[i].name == name) return static_cast<Dtype>(i);
  }
  return std::nullopt;
}

}  // namespace forklift
