// What a terminal shows of a copy that takes four seconds, told at once.
#include "forklift/model_options.hpp"

int main() {
  constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30U;
  const forklift::CopyObserver observer = forklift::progress_line("bert");
  if (!observer) return 1;
  observer({gibibyte / 2, 4 * gibibyte, 0.5});  // Too early to be worth a line.
  observer({gibibyte, 4 * gibibyte, 2});
  observer({4 * gibibyte, 4 * gibibyte, 4});
}
