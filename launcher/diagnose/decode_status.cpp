#include "launcher/diagnose/decode_status.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <csignal>
#include <system_error>

#include "launcher/diagnose/signal_table.hpp"

namespace forklift {
namespace {

const SignalEntry* entry_of(int signal) {
  const auto* const found = std::find_if(signal_table.begin(), signal_table.end(),
                                         [&](const SignalEntry& entry) { return entry.number == signal; });
  return found == signal_table.end() ? nullptr : found;
}

/// A whole decimal number without sign; empty if `text` is anything else.
std::optional<int> decimal(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  if (!whole || text.front() == '-') return std::nullopt;
  return value;
}

/// "RTMIN", "RTMIN+3", "RTMAX", "RTMAX-1": as kill(1) and bash write them. 0 if it is none of these.
int real_time_signal_number(std::string_view name) {
  constexpr std::string_view minimum = "RTMIN";
  constexpr std::string_view maximum = "RTMAX";
  const bool counts_up = name.starts_with(minimum);
  if (!counts_up && !name.starts_with(maximum)) return 0;
  name.remove_prefix(minimum.size());
  int distance = 0;
  if (!name.empty()) {
    if (name.front() != (counts_up ? '+' : '-')) return 0;
    const std::optional<int> parsed = decimal(name.substr(1));
    if (!parsed || *parsed > last_real_time_signal - first_real_time_signal) return 0;
    distance = *parsed;
  }
  return counts_up ? first_real_time_signal + distance : last_real_time_signal - distance;
}

/// The value of an enum that starts at 0 and ends at `last`, whose `word_of` is `name`.
template <class Enum>
std::optional<Enum> find_by_name(Enum last, std::string_view (*word_of)(Enum), std::string_view name) {
  for (int number = 0; number <= static_cast<int>(last); ++number) {
    const auto candidate = static_cast<Enum>(number);
    if (word_of(candidate) == name) return candidate;
  }
  return std::nullopt;
}

std::string words_for(const Exited& exited) { return fmt::format("exited with code {}", exited.code); }

std::string words_for(const Signalled& signalled) {
  return fmt::format("was killed by {}{}", signal_name(signalled.signal),
                     signalled.core_dumped ? " (core dumped)" : "");
}

std::string words_for(const FailedToStart& failure) {
  if (failure.step == StartStep::fork_point) return "ended without reaching its fork point";
  const std::string reason = std::generic_category().message(failure.os_errno);
  const std::string subject = failure.subject.empty() ? "" : " " + failure.subject;
  return fmt::format("could not be started: {}{}: {}", step_name(failure.step), subject, reason);
}

std::string words_for(const Lost& lost) {
  if (lost.why == spared_at_start) return "never started: the group was stopped before its turn";
  return lost.why.empty() ? "was lost: its end was not seen" : fmt::format("was lost: {}", lost.why);
}

}  // namespace

Outcome outcome_of_siginfo(int code, int status) {
  switch (code) {
    case CLD_EXITED:
      return Exited{status & 0xff};
    case CLD_KILLED:
      return Signalled{status, false};
    case CLD_DUMPED:
      return Signalled{status, true};
    default:
      return Lost{fmt::format("the kernel reported the unexpected event {} (status {})", code, status)};
  }
}

Outcome outcome_of_wait_status(int status) {
  if (WIFEXITED(status)) return Exited{WEXITSTATUS(status)};
  if (WIFSIGNALED(status)) return Signalled{WTERMSIG(status), WCOREDUMP(status) != 0};
  return Lost{fmt::format("the kernel reported the unexpected wait status {:#x}", static_cast<unsigned>(status))};
}

std::string signal_name(int signal) {
  if (const SignalEntry* entry = entry_of(signal)) return std::string(entry->name);
  if (signal == first_real_time_signal) return "SIGRTMIN";
  if (signal > first_real_time_signal && signal <= last_real_time_signal) {
    return fmt::format("SIGRTMIN+{}", signal - first_real_time_signal);
  }
  return fmt::format("signal {}", signal);
}

int signal_number(std::string_view name) {
  if (name.empty()) return 0;
  if (const std::optional<int> number = decimal(name)) {
    return *number >= 1 && *number <= last_real_time_signal ? *number : 0;
  }
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  std::string_view bare = upper;
  constexpr std::string_view prefix = "SIG";
  if (bare.starts_with(prefix)) bare.remove_prefix(prefix.size());
  for (const SignalEntry& entry : signal_table) {
    if (entry.name.substr(prefix.size()) == bare) return entry.number;
  }
  if (bare == "IOT") return SIGABRT;
  if (bare == "POLL") return SIGIO;
  if (bare == "CLD") return SIGCHLD;
  return real_time_signal_number(bare);
}

std::string_view signal_meaning(int signal) {
  const SignalEntry* entry = entry_of(signal);
  return entry == nullptr ? std::string_view{} : entry->meaning;
}

std::string describe(const Outcome& outcome) {
  return std::visit([](const auto& alternative) { return words_for(alternative); }, outcome);
}

std::string_view step_name(StartStep step) {
  switch (step) {
    case StartStep::prepare:
      return "prepare";
    case StartStep::clone:
      return "clone";
    case StartStep::process_group:
      return "setpgid";
    case StartStep::parent_death:
      return "prctl(PR_SET_PDEATHSIG)";
    case StartStep::standard_streams:
      return "dup3";
    case StartStep::descriptors:
      return "close_range";
    case StartStep::affinity:
      return "sched_setaffinity";
    case StartStep::resource_limit:
      return "setrlimit";
    case StartStep::working_directory:
      return "chdir";
    case StartStep::terminal:
      return "tcsetpgrp";
    case StartStep::execute:
      return "execve";
    case StartStep::fork_point:
      return "fork point";
  }
  return "unknown step";
}

std::string_view category_name(Category category) {
  switch (category) {
    case Category::python_exception:
      return "python_exception";
    case Category::cpp_exception:
      return "cpp_exception";
    case Category::segmentation_fault:
      return "segmentation_fault";
    case Category::abort:
      return "abort";
    case Category::illegal_instruction:
      return "illegal_instruction";
    case Category::bus_error_shared_memory:
      return "bus_error_shared_memory";
    case Category::out_of_memory:
      return "out_of_memory";
    case Category::killed_from_outside:
      return "killed_from_outside";
    case Category::preempted:
      return "preempted";
    case Category::device_out_of_memory:
      return "device_out_of_memory";
    case Category::collective_timeout:
      return "collective_timeout";
    case Category::device_lost:
      return "device_lost";
    case Category::exit_code:
      return "exit_code";
    case Category::failed_to_start:
      return "failed_to_start";
    case Category::port_in_use:
      return "port_in_use";
    case Category::device_busy:
      return "device_busy";
    case Category::fork_after_device_init:
      return "fork_after_device_init";
    case Category::hang:
      return "hang";
    case Category::lost_node:
      return "lost_node";
    case Category::interrupted:
      return "interrupted";
  }
  return "exit_code";
}

std::string_view confidence_name(Confidence confidence) {
  switch (confidence) {
    case Confidence::certain:
      return "certain";
    case Confidence::likely:
      return "likely";
    case Confidence::possible:
      return "possible";
  }
  return "possible";
}

std::optional<Category> category_of_name(std::string_view name) {
  return find_by_name(Category::interrupted, category_name, name);
}

std::optional<Confidence> confidence_of_name(std::string_view name) {
  return find_by_name(Confidence::possible, confidence_name, name);
}

std::optional<StartStep> step_of_name(std::string_view name) {
  return find_by_name(StartStep::fork_point, step_name, name);
}

}  // namespace forklift
