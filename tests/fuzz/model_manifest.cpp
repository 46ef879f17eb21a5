#include "tests/fuzz/model_manifest.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  forklift::fuzz::check_model_manifest({reinterpret_cast<const char*>(data), size});
  return 0;
}
