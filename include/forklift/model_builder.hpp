// A shared model made of tensors that some framework holds in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "forklift/shared_model.hpp"

namespace forklift {

/// One tensor as its framework describes it.
struct SourceTensor {
  std::string name;
  Dtype dtype = Dtype::f32;
  std::vector<std::uint64_t> shape = {};
  std::vector<std::int64_t> strides = {};  ///< One a dimension, in `stride_unit`; empty: row-major.
  enum class StrideUnit : std::uint8_t { elements, bytes } stride_unit = StrideUnit::elements;
  const void* data = nullptr;  ///< The element with all indices 0; may be null if there are no elements.
  /// Identity of the storage (its address, its object), 0 if unknown. Tensors whose bytes overlap are one storage
  /// anyway; this also keeps neighbours of one storage together, as flattened weights are.
  std::uint64_t storage = 0;
};

/// Collects tensors, then copies them into shared memory at once:
///
///     forklift::SharedModel::Builder builder;
///     for (…) if (auto added = builder.add({.name = …, .dtype = …, .shape = …, .data = …}); !added) …
///     auto model = builder.finish().value();
///
/// What shares memory before shares memory after, each storage once and at the same distances. Strides are kept, with
/// one exception: a tensor that shares with nobody and would drag unused bytes along (a column of a large matrix) is
/// packed into row-major order, and notes() of the model says so.
class SharedModel::Builder {
 public:
  Builder();
  Builder(Builder&&) noexcept;
  Builder& operator=(Builder&&) noexcept;
  ~Builder();

  /// Notes one more tensor; the memory must stay as it is until finish(). Refused, with the reason: a name twice or not
  /// in UTF-8, a null pointer, sizes beyond 2^64, negative strides.
  Result<void> add(SourceTensor tensor);

  /// Copies. Of the options `access`, `huge_pages`, `copy_folder`, `prefault`, `tied` and `observer` count. For reading
  /// and copying on write the memory is sealed; only for `shared` it stays writable. The builder is empty afterwards.
  Result<SharedModel> finish(const ModelOptions& options = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace forklift
