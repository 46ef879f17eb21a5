// One tensor of a shared model, where it lies: nothing is copied.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "forklift/dtype.hpp"
#include "forklift/result.hpp"

namespace forklift {

/// What a process may do with the tensors of a model.
enum class ModelAccess : std::uint8_t {
  read,           ///< A store ends the process with SIGSEGV. One instance for all.
  copy_on_write,  ///< A store is seen by this process only (and by those that it forks later); each page that is
                  ///< written becomes a private copy.
  shared,         ///< A store is seen by all processes at once, without any order between them (Hogwild).
};

/// Whether elements of type `dtype` may be read as T: a number of the same kind and width. An unsigned integer also
/// gives the bits of the types of its width that C++ has no type for (F16, BF16, F8_*, BOOL).
template <class T>
constexpr bool holds(Dtype dtype) {
  using V = std::remove_cv_t<T>;
  [[maybe_unused]] const std::string_view name = name_of(dtype);
  if constexpr (std::is_same_v<V, std::complex<float>>) return dtype == Dtype::c64;
  if constexpr (std::is_same_v<V, double>) return dtype == Dtype::f64;
  if constexpr (std::is_same_v<V, float>) return dtype == Dtype::f32;
  if constexpr (std::is_integral_v<V> && !std::is_same_v<V, bool>) {
    if (facts_of(dtype).bits != 8 * sizeof(V)) return false;
    if (std::is_signed_v<V>) return name.front() == 'I';
    return name.front() == 'U' || dtype == Dtype::boolean || (sizeof(V) <= 2 && name.front() != 'I');
  }
  return false;
}

/// A view is a few words: copy it freely. What it points to lives as long as any copy of the SharedModel that it came
/// from, in this process; any thread may read it.
struct TensorView {
  std::string_view name;
  Dtype dtype = Dtype::u8;
  std::span<const std::uint64_t> shape;  ///< Empty: a scalar.
  /// In elements; empty: row-major (C order), which is all that a file can hold. Only tensors from SharedModel::Builder
  /// can be otherwise: a transposed view that shares its storage stays one.
  std::span<const std::uint64_t> strides;
  std::span<const std::byte> bytes;  ///< From the first element to the end of the last. Little-endian.
  ModelAccess access = ModelAccess::read;

  [[nodiscard]] std::uint64_t elements() const {
    std::uint64_t product = 1;
    for (const std::uint64_t dimension : shape) product *= dimension;  // Was checked when the model was opened.
    return product;
  }

  /// The elements in row-major order. An error if T is not what they are, if strides say otherwise, or if the file
  /// placed them at an address that T cannot be read from (ModelLoading::copy aligns every tensor).
  template <class T>
  [[nodiscard]] Result<std::span<const T>> as() const {
    if (auto refused = refusal(holds<T>(dtype)); !refused.empty()) return Error{ErrorKind::usage, std::move(refused)};
    return std::span<const T>(reinterpret_cast<const T*>(bytes.data()), elements());
  }

  /// The same bytes for writing; an error where the model was opened for reading.
  [[nodiscard]] Result<std::span<std::byte>> writable_bytes() const {
    if (access == ModelAccess::read) {
      return Error{ErrorKind::usage, "tensor '" + std::string(name) +
                                         "' is read-only: open the model with ModelAccess::copy_on_write (changes stay "
                                         "in this process) or ModelAccess::shared (all replicas see them)"};
    }
    return std::span<std::byte>(const_cast<std::byte*>(bytes.data()), bytes.size());
  }

  /// as() for writing.
  template <class T>
  [[nodiscard]] Result<std::span<T>> as_writable() const {
    const auto allowed = writable_bytes();
    if (!allowed) return allowed.error();
    const auto elements = as<T>();
    if (!elements) return elements.error();
    return std::span<T>(const_cast<T*>(elements.value().data()), elements.value().size());
  }

 private:
  [[nodiscard]] std::string refusal(bool type_fits) const {
    const std::string subject = "tensor '" + std::string(name) + "' ";
    const std::uint64_t aligned = facts_of(dtype).aligned;
    if (!type_fits) return subject + "holds " + std::string(name_of(dtype)) + ", which is not the type asked for";
    if (!strides.empty()) return subject + "is not in row-major order: use its bytes and strides";
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % aligned != 0) {
      return subject + "lies at an address that is not divisible by " + std::to_string(aligned) +
             ": open the model with ModelLoading::copy, which aligns it";
    }
    return {};
  }
};

}  // namespace forklift
