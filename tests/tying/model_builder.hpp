// a_model().weight("a").tied("b", "a"): lists of parameters as a framework would give them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "forklift/weight_tying.hpp"

namespace forklift {

/// Each new weight has a storage of its own: 1, 2, 3, …, and four bytes an element.
class ModelBuilder {
 public:
  explicit ModelBuilder(StorageIdentity first_storage) : next_storage_(first_storage) {}

  ModelBuilder& weight(const std::string& name, std::uint64_t elements = 1024) {
    parameters_.push_back({name, next_storage_++, 0, elements * 4, elements, ParameterData::present});
    return *this;
  }
  /// `name` is the same tensor as `other`, which is there already.
  ModelBuilder& tied(const std::string& name, const std::string& other) {
    NamedParameter same = get(other);
    same.name = name;
    parameters_.push_back(same);
    return *this;
  }
  /// `elements` of `other` from `first` on.
  ModelBuilder& view(const std::string& name, const std::string& other, std::uint64_t first, std::uint64_t elements) {
    NamedParameter part = get(other);
    part.name = name;
    part.offset_bytes += first * 4;
    part.bytes = elements * 4;
    part.elements = elements;
    parameters_.push_back(part);
    return *this;
  }
  ModelBuilder& on_meta(const std::string& name) { return get(name).data = ParameterData::meta, *this; }
  ModelBuilder& unknown_storage(const std::string& name) { return get(name).storage = 0, *this; }
  ModelBuilder& cast_to_two_bytes() {
    for (NamedParameter& parameter : parameters_) {
      parameter.bytes /= 2;
      parameter.offset_bytes /= 2;
    }
    return *this;
  }

  [[nodiscard]] NamedParameter& get(const std::string& name) {
    const auto found = std::find_if(parameters_.begin(), parameters_.end(),
                                    [&](const NamedParameter& parameter) { return parameter.name == name; });
    EXPECT_NE(found, parameters_.end()) << name;
    return *found;
  }
  operator std::vector<NamedParameter>() const { return parameters_; }  // NOLINT(google-explicit-constructor)

 private:
  StorageIdentity next_storage_;
  std::vector<NamedParameter> parameters_;
};

inline ModelBuilder a_model(StorageIdentity first_storage = 1) { return ModelBuilder(first_storage); }

/// The same names on another device: every storage is a new one.
inline ModelBuilder a_moved_model() { return ModelBuilder(1001); }

inline std::string sentences_of(const TyingReport& report) {
  std::string text;
  for (const TyingDifference& difference : report.differences) text += difference.sentence + "\n";
  return text;
}

inline std::vector<TyingDifference::Kind> kinds_of(const TyingReport& report) {
  std::vector<TyingDifference::Kind> kinds;
  for (const TyingDifference& difference : report.differences) kinds.push_back(difference.kind);
  return kinds;
}

}  // namespace forklift
