#include "launcher/system/process_table.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "launcher/system/process_walk.hpp"
#include "worker/descriptor.hpp"
#include "worker/kernel_file.hpp"

namespace forklift {
namespace {

constexpr std::size_t command_bytes = 200;

template <class Number>
Number number_of(std::string_view digits) {
  Number value{};
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

// "PID (COMM) STATE PPID …", the start time being field 22. COMM may hold anything, parentheses and newlines included,
// so it ends at the last ')'.
std::optional<ProcessEntry> parse_stat(std::string_view text) {
  const auto open = text.find('(');
  const auto close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  ProcessEntry entry;
  entry.pid = number_of<int>(text);
  entry.name = text.substr(open + 1, close - open - 1);
  std::string_view rest = text.substr(close + 1);
  const std::string_view state = next_field(rest);
  if (state.empty()) return std::nullopt;
  entry.state = state.front();
  entry.parent = number_of<int>(next_field(rest));
  entry.group = number_of<int>(next_field(rest));
  for (int field = 6; field < 22; ++field) next_field(rest);
  entry.start_time = number_of<std::uint64_t>(next_field(rest));
  return entry;
}

/// One read of at most a few hundred bytes, which is what a walk over thousands of processes can afford.
std::optional<ProcessEntry> read_entry(int proc, const char* pid) {
  char path[32];
  char text[1024];
  std::snprintf(path, sizeof path, "%.20s/stat", pid);
  const Descriptor file(::openat(proc, path, O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return std::nullopt;
  const ssize_t length = ::read(file.get(), text, sizeof text);
  if (length <= 0) return std::nullopt;
  return parse_stat({text, static_cast<std::size_t>(length)});
}

// In a pid namespace without a /proc of its own, /proc shows the outer pids, and a signal would meet somebody else.
bool proc_has_our_pids() {
  char target[24];
  const ssize_t length = ::readlink("/proc/self", target, sizeof target);
  return length > 0 && number_of<int>({target, static_cast<std::size_t>(length)}) == ::getpid();
}

// Newlines of a `python -c` program, or whatever a process has written over its title, must not break a message.
std::string printable(std::string_view text) {
  std::string line(text);
  for (char& character : line) {
    if (static_cast<unsigned char>(character) < ' ' || character == '\x7f') character = ' ';
  }
  return line;
}

/// At most `limit` bytes, and no part of a UTF-8 sequence at the end.
std::string_view shortened(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0U) == 0x80U) --limit;
  return text.substr(0, limit);
}

}  // namespace

void walk_processes(const std::function<void(ProcessEntry)>& use) {
  if (!proc_has_our_pids()) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  if (!proc) return;
  while (const dirent* found = ::readdir(proc.get())) {
    if (found->d_name[0] < '1' || found->d_name[0] > '9') continue;
    if (auto entry = read_entry(::dirfd(proc.get()), found->d_name)) use(std::move(*entry));
  }
}

std::vector<ProcessEntry> read_process_table() {
  std::vector<ProcessEntry> table;
  walk_processes([&table](ProcessEntry entry) { table.push_back(std::move(entry)); });
  return table;
}

std::vector<ProcessEntry> descendants_of(int ancestor, const std::vector<ProcessEntry>& table) {
  std::unordered_multimap<int, const ProcessEntry*> children;
  children.reserve(table.size());
  for (const ProcessEntry& entry : table) children.emplace(entry.parent, &entry);
  std::vector<ProcessEntry> found;
  const auto add_children_of = [&](int parent) {
    const auto [first, last] = children.equal_range(parent);
    for (auto child = first; child != last; ++child) found.push_back(*child->second);
  };
  add_children_of(ancestor);
  for (std::size_t next = 0; next < found.size(); ++next) add_children_of(found[next].pid);
  return found;
}

std::vector<ProcessEntry> descendants_of(int ancestor) { return descendants_of(ancestor, read_process_table()); }

std::string command_of(int pid) {
  const std::string directory = "/proc/" + std::to_string(pid);
  std::string words = read_kernel_file(directory + "/cmdline").value_or("");
  while (!words.empty() && words.back() == '\0') words.pop_back();
  if (!words.empty()) return printable(shortened(words, command_bytes));
  std::string name = read_kernel_file(directory + "/comm").value_or("");
  if (name.ends_with('\n')) name.pop_back();
  return name.empty() ? std::string() : "[" + printable(name) + "]";
}

std::set<ProcessIdentity> children_of_self() {
  std::set<ProcessIdentity> children;
  const int self = ::getpid();
  for (const ProcessEntry& entry : read_process_table()) {
    if (entry.parent == self) children.insert({entry.pid, entry.start_time});
  }
  return children;
}

std::uint64_t resident_bytes(int pid) {
  const auto text = read_kernel_file("/proc/" + std::to_string(pid) + "/statm");
  if (!text) return 0;
  std::string_view rest = *text;
  next_field(rest);  // The size of the address space.
  return number_of<std::uint64_t>(next_field(rest)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::optional<ProcessIdentity> identity_of(int pid) {
  const Descriptor proc(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto entry = proc.valid() ? read_entry(proc.get(), std::to_string(pid).c_str()) : std::nullopt;
  return entry ? std::optional(ProcessIdentity{entry->pid, entry->start_time}) : std::nullopt;
}

std::optional<std::vector<int>> listed_children() {
  const std::string self = std::to_string(::getpid());
  const auto text = read_kernel_file("/proc/self/task/" + self + "/children");
  if (!text) return std::nullopt;
  std::vector<int> pids;
  std::string_view rest = *text;
  for (auto field = next_field(rest); !field.empty(); field = next_field(rest)) pids.push_back(number_of<int>(field));
  return pids;
}

}  // namespace forklift
