#include "launcher/diagnose/decode_status.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <set>

#include "launcher/diagnose/signal_table.hpp"

namespace forklift {
namespace {

// A native wait status, put together as the kernel does.
int exit_status(int code) { return code << 8; }
int signal_status(int signal, bool core) { return signal | (core ? 0x80 : 0); }

TEST(DecodeStatus, EveryExitCode_IsExitedFromBothSources) {
  for (int code = 0; code <= 255; ++code) {
    EXPECT_EQ(outcome_of_wait_status(exit_status(code)), Outcome(Exited{code}));
    EXPECT_EQ(outcome_of_siginfo(CLD_EXITED, code), Outcome(Exited{code}));
  }
}

TEST(DecodeStatus, EverySignalWithAndWithoutCore_IsSignalledFromBothSources) {
  for (int signal = 1; signal <= last_real_time_signal; ++signal) {
    EXPECT_EQ(outcome_of_wait_status(signal_status(signal, false)), Outcome(Signalled{signal, false}));
    EXPECT_EQ(outcome_of_wait_status(signal_status(signal, true)), Outcome(Signalled{signal, true}));
    EXPECT_EQ(outcome_of_siginfo(CLD_KILLED, signal), Outcome(Signalled{signal, false}));
    EXPECT_EQ(outcome_of_siginfo(CLD_DUMPED, signal), Outcome(Signalled{signal, true}));
  }
}

TEST(DecodeStatus, Exit11AndSignal11_AreDifferent) {
  EXPECT_NE(outcome_of_wait_status(exit_status(SIGSEGV)), outcome_of_wait_status(signal_status(SIGSEGV, false)));
}

TEST(DecodeStatus, StoppedAndContinued_AreNoEnd) {
  EXPECT_TRUE(std::holds_alternative<Lost>(outcome_of_siginfo(CLD_STOPPED, SIGSTOP)));
  EXPECT_TRUE(std::holds_alternative<Lost>(outcome_of_siginfo(CLD_CONTINUED, SIGCONT)));
  EXPECT_TRUE(std::holds_alternative<Lost>(outcome_of_wait_status(0x137f)));
}

TEST(SignalTable, NumbersAndNames_AreUniqueAndSorted) {
  std::set<std::string_view> names;
  int previous = 0;
  for (const SignalEntry& entry : signal_table) {
    EXPECT_GT(entry.number, previous);
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_FALSE(entry.meaning.empty()) << entry.name;
    previous = entry.number;
  }
  EXPECT_EQ(previous, 31);
}

TEST(SignalName, EverySignal_IsFoundByItsNameAgain) {
  for (int signal = 1; signal <= last_real_time_signal; ++signal) {
    const std::string name = signal_name(signal);
    if (name.starts_with("signal ")) continue;  // 32 and 33 belong to the C library
    EXPECT_EQ(signal_number(name), signal) << name;
    EXPECT_EQ(signal_number(name.substr(3)), signal) << name;
    EXPECT_EQ(signal_number(std::to_string(signal)), signal);
  }
}

TEST(SignalName, RealTimeAndUnknownOnes_AreNamedByNumber) {
  EXPECT_EQ(signal_name(34), "SIGRTMIN");
  EXPECT_EQ(signal_name(37), "SIGRTMIN+3");
  EXPECT_EQ(signal_name(32), "signal 32");
  EXPECT_EQ(signal_name(77), "signal 77");
}

TEST(SignalNumber, SpellingsAndNonsense_AreTold) {
  EXPECT_EQ(signal_number("term"), SIGTERM);
  EXPECT_EQ(signal_number("SigUsr1"), SIGUSR1);
  EXPECT_EQ(signal_number("IOT"), SIGABRT);
  EXPECT_EQ(signal_number("RTMIN+2"), 36);
  EXPECT_EQ(signal_number("SIGRTMAX-1"), 63);
  for (const char* nonsense : {"", "0", "65", "-9", "+9", "9x", "TERMINATE", "RTMIN-1", "RTMIN+99", "SIG"}) {
    EXPECT_EQ(signal_number(nonsense), 0) << nonsense;
  }
}

TEST(Describe, EachOutcome_IsOneClause) {
  EXPECT_EQ(describe(Exited{3}), "exited with code 3");
  EXPECT_EQ(describe(Signalled{SIGSEGV, true}), "was killed by SIGSEGV (core dumped)");
  EXPECT_EQ(describe(Signalled{SIGKILL, false}), "was killed by SIGKILL");
  EXPECT_EQ(describe(FailedToStart{StartStep::execute, EACCES, "/x"}),
            "could not be started: execve /x: Permission denied");
  EXPECT_EQ(describe(FailedToStart{StartStep::clone, EAGAIN, ""}),
            "could not be started: clone: Resource temporarily unavailable");
  EXPECT_EQ(describe(Lost{"the supervisor was killed"}), "was lost: the supervisor was killed");
}

TEST(Names, EveryCategoryConfidenceAndStep_IsFoundByItsNameAgain) {
  std::set<std::string_view> names;
  for (int number = 0; number <= static_cast<int>(Category::interrupted); ++number) {
    const auto category = static_cast<Category>(number);
    EXPECT_TRUE(names.insert(category_name(category)).second);
    EXPECT_EQ(category_of_name(category_name(category)), category);
  }
  for (const Confidence confidence : {Confidence::certain, Confidence::likely, Confidence::possible}) {
    EXPECT_EQ(confidence_of_name(confidence_name(confidence)), confidence);
  }
  for (int number = 0; number <= static_cast<int>(StartStep::execute); ++number) {
    const auto step = static_cast<StartStep>(number);
    EXPECT_EQ(step_of_name(step_name(step)), step);
  }
  EXPECT_EQ(category_of_name("oops"), std::nullopt);
  EXPECT_EQ(confidence_of_name(""), std::nullopt);
}

}  // namespace
}  // namespace forklift
