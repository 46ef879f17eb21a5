// What was given for each flag, after the command line was laid over the environment.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "forklift/environment.hpp"
#include "forklift/result.hpp"
#include "launcher/request/flag_table.hpp"
#include "launcher/request/split_command.hpp"

namespace forklift {

enum class Source { command_line, environment };

/// The value of one flag and where it came from.
struct GivenOption {
  const Flag* flag = nullptr;  ///< Into flag_table(); never null.
  Source source = Source::command_line;
  std::string place;                ///< "--num-processes" or "PET_NPROC_PER_NODE": named in messages.
  std::vector<std::string> values;  ///< One for each time it was given; none for a flag that takes no value.

  /// The value that counts: the last one. Empty for a flag that takes none.
  [[nodiscard]] const std::string& text() const;
};

/// "command line: --nproc-per-node 4", "environment: PET_NPROC_PER_NODE=4".
std::string origin_of(const GivenOption& option);

/// "--num-processes: got 'abc', expected a whole number".
Error bad_value(const GivenOption& option, std::string_view expected);

/// The flags that have a value, by name.
class GivenOptions {
 public:
  using Map = std::map<std::string_view, GivenOption, std::less<>>;

  /// nullptr: not given. `name` is a name of the flag table.
  [[nodiscard]] const GivenOption* find(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  void add(GivenOption option);
  void remove(std::string_view name) { options_.erase(name); }

  [[nodiscard]] Map::const_iterator begin() const { return options_.begin(); }
  [[nodiscard]] Map::const_iterator end() const { return options_.end(); }

 private:
  Map options_;
};

/// Lays the command line over torchrun's PET_ variables and the few others that the flag table names. An empty variable
/// counts as not set; a switch is turned on by 1, true, yes or on and left off by 0, false, no or off.
Result<GivenOptions> given_options(const std::vector<GivenFlag>& head, const Environment& environment);

}  // namespace forklift
