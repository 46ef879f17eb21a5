// Every flag that `forklift launch` knows, in one table: its own, accelerate's and torchrun's.
//
// Splitting, parsing, help texts and the tests all read this table; there is no second list of names. Names are written
// with dashes; find_flag() (flag_lookup.hpp) accepts `_` in their place.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace forklift {

/// Whose command line a flag comes from.
enum class Tool : std::uint8_t { forklift, accelerate, torchrun, both_peers };

/// What forklift does when a flag is given.
enum class FlagStatus : std::uint8_t {
  honoured,   ///< It does what its help line says.
  inert,      ///< Accepted; one warning names it and says why it changes nothing.
  refused,    ///< Its meaning does not exist in this version: a usage error.
  dependent,  ///< A detail of a refused selector: accepted, one warning names it.
};

/// Headings of the help text, in its order.
enum class FlagGroup : std::uint8_t { program, size, device, environment, output, supervision, planning };

struct Flag {
  std::string_view name = {};   ///< Long name with dashes, without the leading ones.
  char letter = '\0';           ///< Short form, or '\0'.
  std::string_view value = {};  ///< The word for its value in help texts; empty: it takes none.
  std::string_view option =
      {};  ///< The option it sets when that has another name (torchrun's word for the same thing).
  Tool tool = Tool::forklift;
  FlagGroup group = FlagGroup::program;
  FlagStatus status = FlagStatus::honoured;
  /// honoured: the help line. inert: why it changes nothing. refused: what is missing. dependent: its selector.
  std::string_view text = {};
  std::string_view variable = {};  ///< Environment variable with its default, beside torchrun's PET_ ones.

  [[nodiscard]] constexpr bool takes_value() const { return !value.empty(); }
  /// Key in LaunchRequest::origins.
  [[nodiscard]] constexpr std::string_view option_name() const { return option.empty() ? name : option; }
  [[nodiscard]] constexpr bool known_to_torchrun() const { return tool == Tool::torchrun || tool == Tool::both_peers; }
};

/// All flags, in the order of the help text.
std::span<const Flag> flag_table();

/// "PET_NPROC_PER_NODE": the variable that torchrun reads as the default of one of its flags.
std::string torchrun_variable(const Flag& flag);

}  // namespace forklift
