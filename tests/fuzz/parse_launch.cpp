// libFuzzer entry for the command line; the corpus beside it runs as an ordinary test too (tests/request).
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/parse_launch_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  forklift::feed_parse_launch({reinterpret_cast<const char*>(data), size});
  return 0;
}
