// Which words of a command line are forklift's, which is PROGRAM, and which are PROGRAM's own.
#pragma once

#include <string>
#include <vector>

#include "forklift/result.hpp"
#include "launcher/request/flag_table.hpp"

namespace forklift {

/// One flag of the head, as it was written.
struct GivenFlag {
  const Flag* flag = nullptr;  ///< Into flag_table(); never null.
  std::string value;           ///< Empty for a flag that takes none.
};

enum class HelpWish { none, asked };

struct SplitCommand {
  std::vector<GivenFlag> head;         ///< In the order given, repetitions included.
  std::string program;                 ///< Empty: none was given.
  std::vector<std::string> arguments;  ///< Everything after PROGRAM, untouched.
  HelpWish help = HelpWish::none;      ///< asked: `-h` or `--help` stood before PROGRAM; nothing after it was read.
};

/// Splits the words after `launch`. The head ends at the first word that is neither a flag nor a flag's value, or after
/// `--`. Forms: `--flag value`, `--flag=value`, `-r 3`, `-r3`, `-r=3`, `-qm`.
/// A usage error for an unknown or abbreviated flag, a value that is missing or not taken, and an empty PROGRAM.
Result<SplitCommand> split_command(const std::vector<std::string>& words);

}  // namespace forklift
