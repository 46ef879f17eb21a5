// Reproducible chance: the same seed gives the same run on every machine.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>

#include "forklift/request.hpp"

namespace forklift::policy {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  /// 0 … limit-1. (The standard distributions differ between libraries.)
  int below(int limit) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(limit)); }
  bool percent(int chance) { return below(100) < chance; }
  /// 0 … limit, whole milliseconds.
  Duration up_to(Duration limit) {
    const auto most = std::chrono::duration_cast<std::chrono::milliseconds>(limit).count();
    return std::chrono::milliseconds(below(static_cast<int>(most) + 1));
  }
  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return choices.begin()[below(static_cast<int>(choices.size()))];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace forklift::policy
