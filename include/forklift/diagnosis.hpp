// Why a job failed, in words that a person and a program can use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "forklift/ids.hpp"
#include "forklift/outcome.hpp"

namespace forklift {

/// The closed list of causes. The names in report.json are these words.
enum class Category : std::uint8_t {
  python_exception,
  cpp_exception,
  segmentation_fault,
  abort,
  illegal_instruction,
  bus_error_shared_memory,
  out_of_memory,
  killed_from_outside,
  preempted,
  device_out_of_memory,
  collective_timeout,
  device_lost,
  exit_code,
  failed_to_start,
  port_in_use,
  device_busy,
  fork_after_device_init,
  hang,
  lost_node,
  interrupted,
};

enum class Confidence : std::uint8_t { certain, likely, possible };

/// Category, how sure, one sentence, what it rests on, what to do.
struct Diagnosis {
  Category category = Category::exit_code;
  Confidence confidence = Confidence::certain;
  std::string summary;                ///< One sentence that names the rank.
  std::vector<std::string> evidence;  ///< Facts, each a short line.
  std::vector<std::string> advice;    ///< What to do, the most promising first.
  std::string traceback;              ///< The Python traceback (or native one), whole; empty if there is none.
};

/// The ending that started the fall, explained.
struct RootCause {
  Rank rank;
  int pid = 0;
  Outcome outcome;
  Diagnosis diagnosis;
};

}  // namespace forklift
