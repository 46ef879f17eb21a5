// Endings, plans and evidence for the tests of diagnosis, in a few words each.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "launcher/diagnose/diagnose.hpp"

namespace forklift::testing {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;

/// an_ending(2).exited(1).saying("…"), with pid 1000 + rank and its rank as order.
class EndingBuilder {
 public:
  explicit EndingBuilder(int rank) {
    ending_.rank = Rank{rank};
    ending_.local_rank = LocalRank{rank};
    ending_.pid = 1000 + rank;
    ending_.order = static_cast<std::uint64_t>(rank);
  }
  EndingBuilder& exited(int code) { return with(Exited{code}); }
  EndingBuilder& killed_by(int signal, bool core_dumped = false) { return with(Signalled{signal, core_dumped}); }
  EndingBuilder& failed_to_start(StartStep step, int os_errno, std::string subject) {
    ending_.pid = 0;
    return with(FailedToStart{step, os_errno, std::move(subject)});
  }
  EndingBuilder& lost(std::string why) { return with(Lost{std::move(why)}); }
  EndingBuilder& asked(AskedToStop asked) {
    ending_.asked = asked;
    return *this;
  }
  EndingBuilder& order(std::uint64_t order) {
    ending_.order = order;
    return *this;
  }
  EndingBuilder& saying(std::string text) {
    ending_.stderr_tail = std::move(text);
    return *this;
  }
  EndingBuilder& peak(std::uint64_t bytes) {
    ending_.peak_rss_bytes = bytes;
    return *this;
  }
  operator Ending() const { return ending_; }  // NOLINT(google-explicit-constructor)

 private:
  EndingBuilder& with(Outcome outcome) {
    ending_.outcome = std::move(outcome);
    return *this;
  }
  Ending ending_;
};

inline EndingBuilder an_ending(int rank) { return EndingBuilder(rank); }

/// A plan of `replicas` that run `/opt/venv/bin/python -u train.py`.
inline Plan a_python_plan(int replicas) {
  Plan plan;
  plan.world_size = replicas;
  plan.program_kind = ProgramKind::python;
  for (int rank = 0; rank < replicas; ++rank) {
    ReplicaPlan replica;
    replica.rank = Rank{rank};
    replica.local_rank = LocalRank{rank};
    replica.argv = {"/opt/venv/bin/python", "-u", "train.py"};
    plan.replicas.push_back(replica);
  }
  return plan;
}

/// The diagnosis of one failed replica of a job of four.
inline Diagnosis diagnosis_of(const Ending& ending, const AttemptEvidence& evidence = {}) {
  return diagnose(a_python_plan(4), {ending}, evidence).value().diagnosis;
}

inline std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text.append(line).push_back('\n');
  return text;
}

/// One of the lines holds `part`.
inline void expect_says(const std::vector<std::string>& lines, const std::string& part) {
  EXPECT_NE(joined(lines).find(part), std::string::npos) << "'" << part << "' is not in:\n" << joined(lines);
}

/// "Traceback …" as Python prints it, ending in `exception`.
inline std::string traceback_ending_in(const std::string& exception) {
  return "Traceback (most recent call last):\n  File \"train.py\", line 7, in <module>\n    main()\n" + exception +
         "\n";
}

/// What gloo says when the process at the other end has gone.
inline const std::string lost_peer =
    traceback_ending_in("RuntimeError: [pair.cc:534] Connection closed by peer [::1]:4242");

}  // namespace forklift::testing
