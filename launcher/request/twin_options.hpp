// One thing that both peers have a word for, and what to say when the two words disagree.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "launcher/request/option_reader.hpp"

namespace forklift {

/// "--num-machines 2 and --nnodes 3 contradict each other, give one of them".
inline Error contradiction(const GivenOption& one, const GivenOption& other, std::string_view circumstance = {}) {
  return usage_error(fmt::format("{} {} and {} {} contradict each other{}{}, give one of them", one.place,
                                 quoted(one.text()), other.place, quoted(other.text()), circumstance.empty() ? "" : " ",
                                 circumstance));
}

/// A flag and the value that was read from it, if it was given.
template <class T>
struct Twin {
  std::string_view name;
  const std::optional<T>& value;
};
template <class T>
Twin(std::string_view, const std::optional<T>&) -> Twin<T>;

template <class T>
void settle_twins(OptionReader& reader, const GivenOptions& given, const Twin<T>& one, const Twin<T>& other) {
  if (!one.value || !other.value || *one.value == *other.value) return;
  reader.fail(contradiction(*given.find(one.name), *given.find(other.name)));
}

}  // namespace forklift
