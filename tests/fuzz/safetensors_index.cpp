#include "tests/fuzz/safetensors_index.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  forklift::fuzz::check_safetensors_index({reinterpret_cast<const char*>(data), size});
  return 0;
}
