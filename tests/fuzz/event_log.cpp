#include "tests/fuzz/event_log.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  forklift::fuzz::check_event_log({reinterpret_cast<const char*>(data), size});
  return 0;
}
