#include "launcher/report/event_log.hpp"

#include <gtest/gtest.h>

#include "launcher/report/event_words.hpp"
#include "launcher/report/report_format.hpp"

namespace forklift {
namespace {

/// Numbers its events and gives each a second of its own.
class Log {
 public:
  Log& add(RunEvent event) {
    event.sequence = next_;
    event.mono_ns = 5'000'000'000 + static_cast<std::int64_t>(next_) * 1'000'000'000;
    event.wall = "2024-01-02T03:04:0" + std::to_string(next_) + ".000+01:00";
    ++next_;
    text_ += event_line(event);
    return *this;
  }
  Log& raw(const std::string& line) {
    text_ += line;
    return *this;
  }
  Log& run(int world_size) {
    RunEvent event;
    event.kind = RunEventKind::run_started;
    event.run_id = "20240102-030405-abcdef";
    event.command = {"forklift", "launch", "a \"b\".py"};
    event.world_size = world_size;
    return add(event);
  }
  Log& attempt(int number) { return add(of(RunEventKind::attempt_started, number)); }
  Log& start(int number, int rank) {
    RunEvent event = of(RunEventKind::replica_started, number);
    event.rank = Rank{rank};
    event.local_rank = LocalRank{rank};
    event.pid = 100 + rank;
    return add(event);
  }
  Log& end(int number, int rank, Outcome outcome, AskedToStop asked = AskedToStop::no) {
    RunEvent event = of(RunEventKind::replica_exited, number);
    event.rank = Rank{rank};
    event.outcome = std::move(outcome);
    event.asked = asked;
    return add(event);
  }
  Log& start_template(int number, int pid) {
    RunEvent event = of(RunEventKind::template_started, number);
    event.pid = pid;
    return add(event);
  }
  Log& end_template(int number, Outcome outcome) {
    RunEvent event = of(RunEventKind::template_ended, number);
    event.outcome = std::move(outcome);
    return add(event);
  }
  Log& stop(int signal) {
    RunEvent event = of(RunEventKind::stop_requested, 0);
    event.signal = signal;
    return add(event);
  }
  Log& finished(int exit_status, int signal = 0, const std::string& ended_by = "nobody") {
    RunEvent event;
    event.kind = RunEventKind::run_ended;
    event.exit_status = exit_status;
    if (signal != 0) event.signal = signal;
    event.note = ended_by;
    return add(event);
  }
  [[nodiscard]] RunReport report(const RunHolder& holder = {}) const {
    return rebuild_report(text_, "/runs/x", holder).value();
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  static RunEvent of(RunEventKind kind, int attempt) {
    RunEvent event;
    event.kind = kind;
    event.attempt = Attempt{attempt};
    return event;
  }
  std::uint64_t next_ = 0;
  std::string text_;
};

TEST(EventLine, FieldsThatDoNotApply_AreLeftOut) {
  RunEvent event;
  event.kind = RunEventKind::replica_exited;
  event.sequence = 7;
  event.mono_ns = 123;
  event.wall = "2024-01-02T03:04:05.678+01:00";
  event.attempt = Attempt{1};
  event.rank = Rank{3};
  event.pid = 42;
  event.outcome = Signalled{9, false};
  event.asked = AskedToStop::politely;
  EXPECT_EQ(
      event_line(event),
      "{\"v\":1,\"seq\":7,\"mono_ns\":123,\"wall\":\"2024-01-02T03:04:05.678+01:00\",\"event\":\"replica_exited\","
      "\"attempt\":1,\"rank\":3,\"pid\":42,\"outcome\":{\"kind\":\"signalled\",\"signal\":9,\"signal_name\":"
      "\"SIGKILL\",\"core_dumped\":false},\"asked\":\"politely\"}\n");
}

TEST(EventLine, EveryKind_ReadsBack) {
  for (int number = 0; number <= static_cast<int>(RunEventKind::run_ended); ++number) {
    RunEvent event;
    event.kind = static_cast<RunEventKind>(number);
    event.sequence = 3;
    event.mono_ns = std::int64_t{1} << 60;
    event.attempt = Attempt{1};
    event.rank = Rank{2};
    event.local_rank = LocalRank{0};
    event.signal = 15;
    event.outcome = FailedToStart{StartStep::execute, 2, "/x\n\"y\""};
    event.command = {"a", "\xFF"};
    event.exit_status = 1;
    event.note = "two\nlines";
    const std::string line = event_line(event);
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    const auto read = read_event_line(line);
    ASSERT_TRUE(read) << line;
    EXPECT_EQ(read->mono_ns, event.mono_ns);
    EXPECT_EQ(event_line(*read), line);  // invalid UTF-8 was replaced in the first line
  }
}

TEST(RebuildReport, SupervisorKilled_OpenReplicasAreLost) {
  const RunReport report = Log().run(2).attempt(0).start(0, 0).start(0, 1).report();
  EXPECT_EQ(report.exit_status, 125);
  EXPECT_EQ(report.result, RunResult::failed);
  EXPECT_EQ(report.run_id, "20240102-030405-abcdef");
  EXPECT_EQ(report.command.at(2), "a \"b\".py");
  EXPECT_EQ(report.world_size, 2);
  ASSERT_EQ(report.replicas.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<Lost>(report.replicas[1].outcome));
  EXPECT_EQ(report.replicas[1].pid, 101);
  EXPECT_DOUBLE_EQ(report.replicas[1].started_s, 3);
  EXPECT_FALSE(report.root_cause);
  EXPECT_EQ(report.ended_by, EndedBy::launcher);
  EXPECT_NE(report.notes.at(0).find("supervisor was killed"), std::string::npos);
  EXPECT_TRUE(text_report(report, TextStyle::plain).starts_with("forklift: The job failed because forklift itself"));
}

TEST(RebuildReport, SupervisorLives_TheRunGoesOn) {
  const Log log = Log().run(3).attempt(0).start(0, 0).start(0, 1).start(0, 2).end(0, 1, Exited{0});
  const RunReport report = log.report({RunLife::running, 77});
  EXPECT_EQ(report.result, RunResult::running);
  EXPECT_EQ(report.exit_status, 0);
  EXPECT_EQ(report.ended, "");
  EXPECT_EQ(report.ended_by, EndedBy::nobody);
  EXPECT_EQ(report.launcher_pid, 77);
  EXPECT_EQ(report.replicas.at(0).role, ReplicaRole::running);
  EXPECT_EQ(report.replicas.at(1).role, ReplicaRole::succeeded);
  EXPECT_EQ(text_report(report, TextStyle::plain),
            "forklift: The job is still running, since 2024-01-02T03:04:00.000+01:00 (pid 77).\n\n"
            "ranks 0, 2: running\nrank 1: succeeded\n");
  const Result<RunReport> read = parse_report(json_report(report));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(json_report(read.value()), json_report(report));
}

TEST(RebuildReport, SupervisorLivesAndAReplicaHasFailed_ItIsNamed) {
  const Log log = Log().run(2).attempt(0).start(0, 0).start(0, 1).end(0, 1, Exited{3});
  const RunReport report = log.report({RunLife::running, 0});
  EXPECT_EQ(report.result, RunResult::running);
  ASSERT_TRUE(report.root_cause);
  EXPECT_NE(text_report(report, TextStyle::plain).find("Rank 1 (pid 101) exited with code 3"), std::string::npos);
}

TEST(RebuildReport, EndIsRecorded_IsNotTakenForARunThatGoesOn) {
  const Log log = Log().run(1).attempt(0).start(0, 0).end(0, 0, Exited{0}).finished(0);
  EXPECT_EQ(log.report({RunLife::running, 77}).result, RunResult::succeeded);
}

TEST(RebuildReport, FileSystemWithoutLocks_SaysThatItMayStillRun) {
  const RunReport report = Log().run(1).attempt(0).start(0, 0).report({RunLife::unknown, 0});
  EXPECT_EQ(report.result, RunResult::failed);
  EXPECT_NE(report.notes.at(0).find("may also be still running"), std::string::npos);
}

TEST(RebuildReport, ReplicaFailedBefore_IsTheRootCause) {
  const RunReport report = Log()
                               .run(3)
                               .attempt(0)
                               .start(0, 0)
                               .start(0, 1)
                               .start(0, 2)
                               .end(0, 1, Signalled{11, true})
                               .end(0, 0, Signalled{15, false}, AskedToStop::politely)
                               .report();
  ASSERT_TRUE(report.root_cause);
  EXPECT_EQ(report.root_cause->rank, Rank{1});
  EXPECT_EQ(report.root_cause->diagnosis.category, Category::segmentation_fault);
  EXPECT_EQ(report.replicas.at(0).role, ReplicaRole::collateral);
  EXPECT_TRUE(std::holds_alternative<Lost>(report.replicas.at(2).outcome));
  EXPECT_EQ(report.exit_status, 125);
}

TEST(RebuildReport, Template_IsTheLastOneWithItsEnd) {
  EXPECT_FALSE(Log().run(1).attempt(0).start(0, 0).report().template_process);
  Log log;
  log.run(1).attempt(0).start_template(0, 50);
  ASSERT_TRUE(log.report().template_process);
  EXPECT_EQ(log.report().template_process->pid, 50);
  EXPECT_FALSE(log.report().template_process->outcome);
  log.end_template(0, Exited{7});
  EXPECT_EQ(log.report().template_process->outcome, Outcome(Exited{7}));
  log.attempt(1).start_template(1, 60);
  EXPECT_EQ(log.report().template_process->pid, 60);
  EXPECT_FALSE(log.report().template_process->outcome);
  EXPECT_FALSE(Log().run(1).end_template(0, Exited{0}).report().template_process) << "its first line is torn away";
}

TEST(RebuildReport, Restarted_TellsEachAttempt) {
  const RunReport report = Log()
                               .run(1)
                               .attempt(0)
                               .start(0, 0)
                               .end(0, 0, Exited{3})
                               .attempt(1)
                               .start(1, 0)
                               .end(1, 0, Exited{0})
                               .finished(0)
                               .report();
  ASSERT_EQ(report.attempts.size(), 2U);
  EXPECT_TRUE(report.attempts[0].root_cause);
  EXPECT_FALSE(report.attempts[1].root_cause);
  EXPECT_EQ(report.result, RunResult::succeeded);
  EXPECT_EQ(report.exit_status, 0);
  EXPECT_EQ(report.replicas.at(0).attempt, Attempt{1});
}

TEST(RebuildReport, StoppedFromOutside_IsInterrupted) {
  const RunReport report = Log()
                               .run(1)
                               .attempt(0)
                               .start(0, 0)
                               .stop(2)
                               .end(0, 0, Signalled{2, false}, AskedToStop::politely)
                               .finished(130)
                               .report();
  EXPECT_EQ(report.result, RunResult::interrupted);
  EXPECT_EQ(report.stop_signal, 2);
  EXPECT_EQ(report.exit_status, 130);
}

TEST(RebuildReport, TimeLimit_IsNotTakenForASignalFromOutside) {
  const RunReport report = Log()
                               .run(1)
                               .attempt(0)
                               .start(0, 0)
                               .end(0, 0, Signalled{15, false}, AskedToStop::politely)
                               .finished(143, 15, "time_limit")
                               .report();
  EXPECT_EQ(report.result, RunResult::interrupted);
  EXPECT_EQ(report.ended_by, EndedBy::time_limit);
  EXPECT_TRUE(text_report(report, TextStyle::plain).starts_with("forklift: The job was stopped: its time limit"));
}

TEST(RebuildReport, UnreadableLines_AreSkippedAndCounted) {
  const Log log = Log()
                      .raw("garbage\n")
                      .run(1)
                      .raw("{\"v\":2}\n")
                      .raw("{\"v\":1,\"seq\":1,\"mono_ns\":1,\"event\":\"replica_exited\",\"rank\":0}\n")
                      .raw("\n")
                      .attempt(0)
                      .start(0, 0)
                      .raw("{\"v\":1,\"seq\":9,\"mono");
  const RunReport report = log.report();
  EXPECT_EQ(report.replicas.size(), 1U);
  EXPECT_EQ(report.notes.at(1), "4 lines of events.jsonl could not be read");
}

TEST(RebuildReport, NoRun_IsAnErrorThatNamesTheFile) {
  const Result<RunReport> report = rebuild_report("garbage\n", "/runs/x");
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message.find("/runs/x/events.jsonl"), std::string::npos);
}

}  // namespace
}  // namespace forklift
