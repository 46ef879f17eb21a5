// Small text files by which the kernel speaks: /proc, /sys and control groups.
#pragma once

#include <fcntl.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forklift {

/// The whole content of a file, relative to `directory` (a descriptor) unless absolute; empty if it cannot be read.
std::optional<std::string> read_kernel_file(const std::string& path, int directory = AT_FDCWD);

/// A file that holds one decimal number; empty if it cannot be read or says something else ("max").
std::optional<std::uint64_t> read_kernel_number(const std::string& path);

/// A decimal number with blanks around it and nothing else.
std::optional<std::uint64_t> parse_number(std::string_view text);

/// The number behind `key` in a file of lines "key value" or "key: value kB", as it is written there.
std::optional<std::uint64_t> number_of_key(std::string_view text, std::string_view key);

/// The kernel's notation for sets of numbers, "0-3,8": ascending as written. Text that is no number is left out.
std::vector<int> parse_number_list(std::string_view text);

/// The names in a directory that are `prefix` and a decimal number ("node0", "nvidia12"), as those numbers, ascending.
std::vector<int> numbered_entries(const std::string& directory, std::string_view prefix);

/// Calls `use` for every line, without its end, until it returns Scan::stop.
enum class Scan { go_on, stop };
void for_each_line(std::string_view text, const std::function<Scan(std::string_view)>& use);

/// Cuts the next field off the front of `line`: characters up to the next of `separators`, of which any number count as
/// one. Empty at the end.
std::string_view next_field(std::string_view& line, std::string_view separators = " \t");

}  // namespace forklift
