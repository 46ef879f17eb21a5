// Which of the two output streams of a process is meant.
#pragma once

namespace forklift {

enum class OutputStream { standard_output, standard_error };

/// "standard output" or "standard error", for sentences.
constexpr const char* stream_name(OutputStream stream) {
  switch (stream) {
    case OutputStream::standard_output:
      return "standard output";
    case OutputStream::standard_error:
      return "standard error";
  }
  return "standard output";
}

}  // namespace forklift
