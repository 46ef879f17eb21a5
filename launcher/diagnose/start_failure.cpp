// A replica that never began to run PROGRAM: step × errno → one sentence and what to do.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "launcher/diagnose/decode_status.hpp"
#include "launcher/diagnose/plain_text.hpp"
#include "launcher/diagnose/rules.hpp"

namespace forklift {
namespace {

/// Matches any step, or any errno, in the table.
constexpr std::optional<StartStep> any_step = std::nullopt;
constexpr int any_error = 0;

/// `{subject}` in the texts is the file or value that the step worked on.
struct StartFailureText {
  std::optional<StartStep> step;
  int os_errno = any_error;
  Confidence confidence = Confidence::certain;
  std::string_view reason;  ///< Continues "could not be started: "; at the fork point it stands alone.
  std::array<std::string_view, 2> advice;
};

// The first row that fits decides; rows for one step come before those for any.
constexpr auto start_failure_texts = std::to_array<StartFailureText>({
    {StartStep::execute,
     ENOENT,
     Confidence::likely,
     "{subject} was not found, or the interpreter that its first line (#!) names was not",
     {"Look at the first line of {subject}: the program after #! must exist; a line that ends in a carriage return "
      "(Windows line ends) names one that does not.",
      "For a binary built elsewhere, `file {subject}` names the loader that it needs."}},
    {StartStep::execute,
     EACCES,
     Confidence::certain,
     "{subject} may not be executed (permission denied)",
     {"Give it the permission: chmod +x {subject}",
      "If it has it, look at the folders above it and at the file system's mount options (noexec)."}},
    {StartStep::execute,
     ENOEXEC,
     Confidence::certain,
     "{subject} is not in a format that this machine can execute",
     {"If it is a script, begin it with a line that names its interpreter, such as #!/usr/bin/env bash",
      "If it is a binary, it was built for another kind of CPU or is damaged: see `file {subject}`."}},
    {any_step, ENOTDIR, Confidence::certain, "a part of the path {subject} is not a folder", {"Correct the path.", ""}},
    {StartStep::execute,
     E2BIG,
     Confidence::certain,
     "the arguments and the environment together are too large for the system",
     {"Make the environment smaller: `env | wc -c` shows its size; one variable may not exceed 128 KiB, and all "
      "together may not exceed a quarter of the stack limit (`ulimit -s`).",
      "Pass long lists in a file rather than as arguments."}},
    {StartStep::execute,
     ETXTBSY,
     Confidence::certain,
     "{subject} is being written to by another process",
     {"Wait until the build or the copy that writes it has ended.", ""}},
    {any_step,
     ELOOP,
     Confidence::certain,
     "the path {subject} goes through too many symbolic links",
     {"Look for a link that leads back to itself.", ""}},
    {StartStep::clone,
     EAGAIN,
     Confidence::certain,
     "no further process may be created: the limit of processes was reached",
     {"Raise the limit of processes per user (`ulimit -u`) or of the container or service (pids.max, TasksMax).",
      "Start fewer replicas; each also starts threads, which count."}},
    {StartStep::clone,
     ECONNRESET,
     Confidence::likely,
     "it ended before its first word, or the process that was to fork it did",
     {"Somebody killed it: if it was the kernel for lack of memory, `dmesg | grep -i oom` says so.", ""}},
    {StartStep::clone,
     ETIMEDOUT,
     Confidence::certain,
     "the template did not fork it in time",
     {"See what keeps the template at its fork point: a debugger or SIGSTOP, a machine that swaps, a hook that waits.",
      ""}},
    {any_step,
     EMFILE,
     Confidence::certain,
     "the limit of open files per process was reached",
     {"Raise it before the launch: ulimit -n 65536",
      "Each replica needs about four descriptors of forklift; start fewer replicas, or send their output to files "
      "(--redirects 3)."}},
    {any_step,
     ENFILE,
     Confidence::certain,
     "the machine has no free file descriptor",
     {"Raise fs.file-max, or end programs that hold many files open (`lsof | wc -l`).", ""}},
    {any_step,
     ENOSPC,
     Confidence::certain,
     "there is no space left for {subject}",
     {"Free some space, or write elsewhere with --log-dir.", ""}},
    {any_step,
     EDQUOT,
     Confidence::certain,
     "the disk quota for {subject} is used up",
     {"Free some space, or write elsewhere with --log-dir.", ""}},
    {any_step,
     EROFS,
     Confidence::certain,
     "{subject} is on a file system that is mounted read-only",
     {"Write elsewhere with --log-dir.", ""}},
    {any_step,
     ENOMEM,
     Confidence::certain,
     "the machine has no memory left for another process",
     {"Start fewer replicas, or end other programs; under vm.overcommit_memory=2 the commit limit counts.", ""}},
    {StartStep::working_directory,
     any_error,
     Confidence::certain,
     "the working directory {subject} cannot be entered ({error})",
     {"Create it or correct its permissions, on every machine of the job.", ""}},
    {StartStep::affinity,
     any_error,
     Confidence::certain,
     "it could not be bound to its CPUs ({error})",
     {"The set of allowed CPUs has changed since the plan was made; try --cpu-binding none.", ""}},
    {StartStep::resource_limit,
     any_error,
     Confidence::certain,
     "its limit of open files could not be set ({error})",
     {"Raise the hard limit of open files (`ulimit -Hn`).", ""}},
    {StartStep::terminal,
     any_error,
     Confidence::certain,
     "it could not be given the terminal ({error})",
     {"Start forklift in the foreground of the terminal, or leave out --interactive-rank.", ""}},
    {StartStep::parent_death,
     any_error,
     Confidence::certain,
     "its launcher was gone before it began",
     {"Something killed forklift's supervisor during the start; look for it in the system's log.", ""}},
    {StartStep::fork_point,
     any_error,
     Confidence::certain,
     "ended without reaching its fork point, from where the replicas would have continued",
     {"Call forklift::fork_point() where the program has loaded what its replicas share.",
      "A program without a fork point is started without --template: once per replica."}},
    {StartStep::execute,
     EPERM,
     Confidence::likely,
     "the system does not allow it to execute {subject}",
     {"A security policy (SELinux, AppArmor, seccomp) or a nosuid mount may forbid it; see the system's log.", ""}},
    {StartStep::execute,
     any_error,
     Confidence::certain,
     "{subject} cannot be executed ({error})",
     {"See that the program runs on its own: {subject} --help", ""}},
    {any_step, any_error, Confidence::certain, "the step {step} failed ({error})", {"", ""}},
});

const StartFailureText& text_for(const FailedToStart& failure) {
  const auto* const found =
      std::find_if(start_failure_texts.begin(), start_failure_texts.end(), [&](const StartFailureText& row) {
        const bool step_fits = !row.step || *row.step == failure.step;
        const bool error_fits = row.os_errno == any_error || row.os_errno == failure.os_errno;
        return step_fits && error_fits;
      });
  return *found;  // the last row fits everything
}

std::string filled_in(std::string_view text, const FailedToStart& failure) {
  const std::string subject = failure.subject.empty() ? "the program" : failure.subject;
  return fmt::format(fmt::runtime(text), fmt::arg("subject", plain_text(subject)),
                     fmt::arg("step", step_name(failure.step)),
                     fmt::arg("error", std::generic_category().message(failure.os_errno)));
}

}  // namespace

std::optional<Diagnosis> explain_failed_start(const FailureCase& the_case) {
  const auto* failure = std::get_if<FailedToStart>(&the_case.ending.outcome);
  if (failure == nullptr) return std::nullopt;
  const StartFailureText& text = text_for(*failure);
  const std::string lead = failure->step == StartStep::fork_point ? "" : "could not be started: ";
  Diagnosis diagnosis =
      diagnosis_of(the_case, Category::failed_to_start, text.confidence, lead + filled_in(text.reason, *failure));
  for (const std::string_view advice : text.advice) {
    if (!advice.empty()) diagnosis.advice.push_back(filled_in(advice, *failure));
  }
  return diagnosis;
}

}  // namespace forklift
