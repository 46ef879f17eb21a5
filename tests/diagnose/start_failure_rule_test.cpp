// Step × errno of a start that failed → one sentence.
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/diagnose/builders.hpp"

namespace forklift {
namespace {

using testing::an_ending;
using testing::diagnosis_of;

TEST(StartRule, EachStepAndError_IsOneSentence) {
  const struct {
    StartStep step;
    int os_errno;
    const char* subject;
    const char* part;
  } table[] = {
      {StartStep::execute, ENOENT, "/x/train.sh", "/x/train.sh was not found, or the interpreter"},
      {StartStep::execute, EACCES, "/x/train.sh", "/x/train.sh may not be executed (permission denied)"},
      {StartStep::execute, ENOEXEC, "/x/a.out", "/x/a.out is not in a format that this machine can execute"},
      {StartStep::execute, ENOTDIR, "/x/y", "a part of the path /x/y is not a folder"},
      {StartStep::execute, E2BIG, "/x", "arguments and the environment together are too large"},
      {StartStep::execute, ETXTBSY, "/x", "/x is being written to"},
      {StartStep::execute, ELOOP, "/x", "too many symbolic links"},
      {StartStep::execute, EPERM, "/x", "does not allow it to execute /x"},
      {StartStep::execute, EIO, "/x", "/x cannot be executed (Input/output error)"},
      {StartStep::clone, EAGAIN, "", "the limit of processes was reached"},
      {StartStep::clone, ECONNRESET, "", "it ended before its first word"},
      {StartStep::clone, ETIMEDOUT, "", "the template did not fork it in time"},
      {StartStep::clone, ENOMEM, "", "no memory left for another process"},
      {StartStep::prepare, EMFILE, "", "the limit of open files per process was reached"},
      {StartStep::prepare, ENFILE, "", "the machine has no free file descriptor"},
      {StartStep::prepare, ENOSPC, "/log/0", "there is no space left for /log/0"},
      {StartStep::prepare, EROFS, "/log/0", "/log/0 is on a file system that is mounted read-only"},
      {StartStep::working_directory, ENOENT, "/gone", "/gone cannot be entered (No such file or directory)"},
      {StartStep::affinity, EINVAL, "", "could not be bound to its CPUs (Invalid argument)"},
      {StartStep::resource_limit, EPERM, "", "limit of open files could not be set"},
      {StartStep::terminal, ENOTTY, "", "could not be given the terminal"},
      {StartStep::parent_death, ESRCH, "", "its launcher was gone"},
      {StartStep::process_group, EPERM, "", "the step setpgid failed (Operation not permitted)"},
      {StartStep::descriptors, EBADF, "", "the step close_range failed (Bad file descriptor)"},
      {StartStep::standard_streams, EBADF, "", "the step dup3 failed (Bad file descriptor)"},
  };
  for (const auto& row : table) {
    const Diagnosis diagnosis = diagnosis_of(an_ending(5).failed_to_start(row.step, row.os_errno, row.subject));
    EXPECT_EQ(diagnosis.category, Category::failed_to_start);
    EXPECT_EQ(diagnosis.summary.find("Rank 5 could not be started: "), 0U) << diagnosis.summary;
    EXPECT_NE(diagnosis.summary.find(row.part), std::string::npos) << diagnosis.summary;
  }
}

TEST(StartRule, EveryStepAndEveryError_HasNoHole) {
  for (int step = 0; step <= static_cast<int>(StartStep::fork_point); ++step) {
    for (int os_errno = 0; os_errno < 134; ++os_errno) {
      const Diagnosis diagnosis =
          diagnosis_of(an_ending(0).failed_to_start(static_cast<StartStep>(step), os_errno, "{subject}"));
      EXPECT_FALSE(diagnosis.summary.empty());
    }
  }
}

}  // namespace
}  // namespace forklift
