// Deaths by a signal that no more special rule explains.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "launcher/diagnose/decode_status.hpp"
#include "launcher/diagnose/plain_text.hpp"
#include "launcher/diagnose/rules.hpp"

namespace forklift {
namespace {

struct SignalCause {
  int signal = 0;
  Category category = Category::abort;
  std::array<std::string_view, 2> advice;
};

constexpr std::string_view see_sender =
    "Ask who sends it here: a scheduler or container runtime that ends the job, a person, or a script.";
constexpr std::string_view see_stack =
    "See which library the last frames are in: a mix of versions (torch, CUDA, NumPy, compiled extensions) is the "
    "usual cause.";

constexpr std::string_view look_into_core =
    "For the frames of compiled code: let it write a core file (ulimit -c unlimited) and look into that with gdb.";
constexpr std::string_view ask_faulthandler = "Without a traceback above: run with PYTHONFAULTHANDLER=1.";

// A signal that is not here is taken as sent from outside: its default action ended the replica.
constexpr auto signal_causes = std::to_array<SignalCause>({
    {SIGSEGV, Category::segmentation_fault, {see_stack, look_into_core}},
    {SIGABRT,
     Category::abort,
     {"The lines before the end say which check failed; search for them in the library that printed them.", see_stack}},
    {SIGILL,
     Category::illegal_instruction,
     {"A library was built for a newer CPU than this one (AVX2, AVX-512): install a build for this CPU, or use another "
      "machine.",
      "Compare `lscpu` on this machine with the one where it works."}},
    {SIGFPE,
     Category::illegal_instruction,
     {"An integer was divided by zero in compiled code: look for an empty batch, shape or dimension.", see_stack}},
    {SIGTRAP, Category::abort, {"A check in compiled code failed, or a debugger's breakpoint was left in.", see_stack}},
    {SIGSYS,
     Category::killed_from_outside,
     {"A seccomp filter of the container or service forbids a system call that the program needs: `dmesg | grep "
      "seccomp` names its number.",
      "Try without the filter: docker run --security-opt seccomp=unconfined"}},
    {SIGXCPU, Category::killed_from_outside, {"Raise the limit of CPU time: ulimit -t unlimited", ""}},
    {SIGXFSZ, Category::killed_from_outside, {"Raise the limit of file size: ulimit -f unlimited", ""}},
    {SIGPIPE,
     Category::abort,
     {"The program wrote to a pipe or socket whose other end is gone: look for a helper process that ended first.",
      ""}},
    {SIGALRM, Category::abort, {"A timer that the program itself set (alarm, setitimer) ran out.", ""}},
    {SIGVTALRM, Category::abort, {"A timer that the program itself set (setitimer) ran out.", ""}},
    {SIGPROF, Category::abort, {"A profiler set a timer and was gone when it ran out: start without it.", ""}},
    {SIGHUP,
     Category::killed_from_outside,
     {"A terminal or an ssh session was closed: start the job under nohup, tmux or a scheduler.", see_sender}},
    {SIGQUIT, Category::killed_from_outside, {see_sender, ""}},
});

/// Lines that C and C++ runtimes print right before they give up.
constexpr std::array<std::string_view, 12> last_words_marks{
    "terminate called",
    "  what():",
    "Assertion `",
    "Assertion failed",
    "double free or corruption",
    "free(): invalid",
    "malloc(): ",
    "corrupted size vs. prev_size",
    "munmap_chunk(): invalid pointer",
    "*** stack smashing detected ***",
    "*** buffer overflow detected ***",
    "panicked at",
};

SignalCause cause_of(int signal) {
  const auto* const found = std::find_if(signal_causes.begin(), signal_causes.end(),
                                         [&](const SignalCause& cause) { return cause.signal == signal; });
  return found != signal_causes.end() ? *found : SignalCause{signal, Category::killed_from_outside, {see_sender, ""}};
}

std::string with_meaning(int signal) {
  const std::string_view meaning = signal_meaning(signal);
  return meaning.empty() ? signal_name(signal) : fmt::format("{} ({})", signal_name(signal), meaning);
}

void add_last_words(const FailureCase& the_case, Diagnosis& diagnosis) {
  constexpr std::size_t most = 4;
  constexpr std::size_t longest = 300;
  std::vector<std::string> found;
  for (const std::string_view line : split_lines(the_case.stderr_text)) {
    const bool marked = std::any_of(last_words_marks.begin(), last_words_marks.end(),
                                    [&](std::string_view mark) { return contains(line, mark); });
    if (marked) found.push_back(one_line(line, longest));
  }
  const std::size_t begin = found.size() > most ? found.size() - most : 0;
  diagnosis.evidence.insert(diagnosis.evidence.end(), found.begin() + static_cast<std::ptrdiff_t>(begin), found.end());
}

/// faulthandler prints at most 100 frames of a thread and then "  ...": so deep only a recursion goes.
bool looks_like_stack_overflow(const Diagnosis& diagnosis) {
  return contains(diagnosis.traceback, "\n  ...\n") || diagnosis.traceback.ends_with("\n  ...");
}

bool is_set(std::string_view name, const std::vector<EnvironmentVariable>& variables) {
  return std::any_of(variables.begin(), variables.end(),
                     [&](const EnvironmentVariable& variable) { return variable.name == name; });
}

bool left_a_core(const Outcome& outcome) {
  const auto* signalled = std::get_if<Signalled>(&outcome);
  return signalled != nullptr && signalled->core_dumped;
}

/// A Python program without faulthandler: forklift sets it, unless the user has a setting of his own.
bool lacks_faulthandler(const FailureCase& the_case) {
  return the_case.plan.program_kind == ProgramKind::python && !is_set("PYTHONFAULTHANDLER", the_case.plan.environment);
}

void add_advice(const FailureCase& the_case, int signal, const SignalCause& cause, Diagnosis& diagnosis) {
  if (signal == SIGSEGV && looks_like_stack_overflow(diagnosis)) {
    diagnosis.advice.emplace_back(
        "The stack is more than 100 calls deep: an endless recursion, or one that needs a larger stack (`ulimit -s`, "
        "threading.stack_size).");
  }
  for (const std::string_view advice : cause.advice) {
    const bool done = advice == look_into_core && left_a_core(the_case.ending.outcome);
    if (!advice.empty() && !done) diagnosis.advice.emplace_back(advice);
  }
  const bool native_stack = signal == SIGSEGV || signal == SIGABRT;
  if (native_stack && diagnosis.traceback.empty() && lacks_faulthandler(the_case)) {
    diagnosis.advice.emplace_back(ask_faulthandler);
  }
}

/// An exception that left main() while other threads were still at work often ends in an abort during the teardown:
/// the exception is the cause.
bool aborted_after_exception(const FailureCase& the_case, int signal) { return signal == SIGABRT && the_case.python; }

}  // namespace

std::optional<Diagnosis> explain_signal(const FailureCase& the_case) {
  const auto* signalled = std::get_if<Signalled>(&the_case.ending.outcome);
  if (signalled == nullptr) return std::nullopt;
  if (aborted_after_exception(the_case, signalled->signal)) {
    Diagnosis diagnosis =
        diagnosis_of(the_case, Category::python_exception, Confidence::likely, raised(the_case.python->exception));
    diagnosis.evidence.emplace_back("the traceback stands before the abort, which followed while the program ended");
    add_last_words(the_case, diagnosis);
    diagnosis.advice.emplace_back("Mend what the traceback shows; the abort is its consequence.");
    return diagnosis;
  }
  const SignalCause cause = cause_of(signalled->signal);
  const bool from_outside = cause.category == Category::killed_from_outside;
  Diagnosis diagnosis = diagnosis_of(the_case, cause.category, from_outside ? Confidence::likely : Confidence::certain,
                                     fmt::format("was killed by {}{}{}", with_meaning(signalled->signal),
                                                 from_outside ? ", which forklift did not send" : "",
                                                 signalled->core_dumped ? "; a core file was written" : ""));
  add_last_words(the_case, diagnosis);
  if (the_case.python) {
    diagnosis.evidence.push_back("it had printed before: " + exception_headline(the_case.python->exception));
  }
  add_advice(the_case, signalled->signal, cause, diagnosis);
  if (signalled->core_dumped) {
    diagnosis.advice.emplace_back("The core file holds the native stack: coredumpctl gdb, or gdb PROGRAM core");
  }
  return diagnosis;
}

std::optional<Diagnosis> explain_shell_signal(const FailureCase& the_case) {
  const auto* exited = std::get_if<Exited>(&the_case.ending.outcome);
  const int signal = signal_of(the_case.ending.outcome);
  if (exited == nullptr || signal == 0 || signal_meaning(signal).empty()) return std::nullopt;
  const SignalCause cause = cause_of(signal);
  Diagnosis diagnosis =
      diagnosis_of(the_case, cause.category, Confidence::likely,
                   fmt::format("exited with code {}, which is how a shell reports that its child was killed by {}",
                               exited->code, with_meaning(signal)));
  add_last_words(the_case, diagnosis);
  add_advice(the_case, signal, cause, diagnosis);
  return diagnosis;
}

}  // namespace forklift
