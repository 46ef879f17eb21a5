#include "worker/kernel_file.hpp"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>

#include "worker/descriptor.hpp"

namespace forklift {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::optional<int> parse_int(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::string> read_kernel_file(const std::string& path, int directory) {
  const Descriptor file(::openat(directory, path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return std::nullopt;
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  text = trimmed(text);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> read_kernel_number(const std::string& path) {
  const auto text = read_kernel_file(path);
  return text ? parse_number(*text) : std::nullopt;
}

std::optional<std::uint64_t> number_of_key(std::string_view text, std::string_view key) {
  std::optional<std::uint64_t> found;
  for_each_line(text, [&](std::string_view line) {
    if (next_field(line, " \t:") != key) return Scan::go_on;
    found = parse_number(next_field(line, " \t:"));
    return Scan::stop;
  });
  return found;
}

std::vector<int> parse_number_list(std::string_view text) {
  std::vector<int> numbers;
  text = trimmed(text);
  while (!text.empty()) {
    const std::string_view range = next_field(text, ",");
    const auto dash = range.find('-');
    const auto first = parse_int(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_int(range.substr(dash + 1));
    if (!first || !last) continue;
    for (int number = *first; number <= *last; ++number) numbers.push_back(number);
  }
  return numbers;
}

std::vector<int> numbered_entries(const std::string& directory, std::string_view prefix) {
  std::vector<int> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(directory.c_str()), ::closedir);
  if (!stream) return numbers;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with(prefix)) continue;
    if (const auto number = parse_int(name.substr(prefix.size()))) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

void for_each_line(std::string_view text, const std::function<Scan(std::string_view)>& use) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (use(text.substr(0, end)) == Scan::stop) return;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string_view next_field(std::string_view& line, std::string_view separators) {
  line.remove_prefix(std::min(line.find_first_not_of(separators), line.size()));
  const auto end = std::min(line.find_first_of(separators), line.size());
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(end);
  return field;
}

}  // namespace forklift
