// For any bytes: torchelastic's error file is read or left alone, and what is read says something.
#pragma once

#include <string_view>

#include "tests/fuzz/promise.hpp"
#include "worker/format/error_file.hpp"

namespace forklift::fuzz {

inline void check_error_file(std::string_view bytes) {
  const auto file = parse_error_file(bytes);
  if (!file) return;
  promise(!exception_headline(file->exception).empty(), "an error file that was read names its error");
  promise(split_exception_line(exception_headline(file->exception)) == file->exception,
          "a headline splits into the exception that it was made of");
}

}  // namespace forklift::fuzz
