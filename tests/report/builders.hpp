// Reports for the tests of the report folder.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "forklift/report.hpp"
#include "launcher/report/summarize.hpp"

namespace forklift::testing {

inline Ending an_ending(int rank, Outcome outcome, AskedToStop asked = AskedToStop::no) {
  Ending ending;
  ending.rank = Rank{rank};
  ending.local_rank = LocalRank{rank};
  ending.pid = 4711 + rank;
  ending.outcome = std::move(outcome);
  ending.asked = asked;
  ending.order = static_cast<std::uint64_t>(rank);
  ending.started_s = 0.001;
  ending.ended_s = 2.5;
  ending.peak_rss_bytes = std::uint64_t{64} << 20;
  ending.cpu_user_s = 1.25;
  ending.cpu_system_s = 0.25;
  return ending;
}

inline RootCause a_root_cause(int rank, Outcome outcome, Diagnosis diagnosis) {
  return {Rank{rank}, 4711 + rank, std::move(outcome), std::move(diagnosis)};
}

inline Plan a_plan(int world_size) {
  Plan plan;
  plan.run_id = "20240102-030405-abcdef";
  plan.world_size = world_size;
  return plan;
}

inline RunFacts facts_of(RunResult result) {
  RunFacts facts;
  facts.run_directory = "/home/u/.local/state/forklift/runs/20240102-030405-abcdef";
  facts.command = {"forklift", "launch", "--num-processes", "4", "train.py"};
  facts.started = "2024-01-02T03:04:05.000+01:00";
  facts.ended = "2024-01-02T03:04:07.500+01:00";
  facts.result = result;
  return facts;
}

/// Rank 2 of four raised an exception; the others were stopped, rank 3 with SIGKILL.
inline RunReport an_exception_report() {
  Diagnosis diagnosis;
  diagnosis.category = Category::python_exception;
  diagnosis.summary = "Rank 2 (pid 4713) raised ValueError: bad batch.";
  diagnosis.evidence = {"rank 2 exited with code 1", "raised in File \"train.py\", line 7, in main"};
  diagnosis.advice = {"Read the traceback from its end: the last lines name the place in the program."};
  diagnosis.traceback =
      "Traceback (most recent call last):\n  File \"train.py\", line 7, in main\n    step(batch)\nValueError: bad "
      "batch";
  RunFacts facts = facts_of(RunResult::failed);
  facts.endings = {an_ending(2, Exited{1}), an_ending(0, Signalled{15, false}, AskedToStop::politely),
                   an_ending(1, Signalled{15, false}, AskedToStop::politely),
                   an_ending(3, Signalled{9, false}, AskedToStop::killed)};
  facts.endings.front().stderr_tail = "epoch 1\n" + diagnosis.traceback + "\n";
  facts.endings.front().last_step = 120;
  facts.endings.front().last_beat_s = 1.25;
  facts.log_files[Rank{2}] = {"", facts.run_directory + "/attempt_0/2/stderr.log"};
  facts.attempts = {{Attempt{0}, a_root_cause(2, Exited{1}, diagnosis)}};
  return summarize(a_plan(4), std::move(facts));
}

/// All four raised the same exception; rank 3 was stopped before it came to its end.
inline RunReport a_shared_exception_report() {
  RunReport first = an_exception_report();
  Diagnosis diagnosis = first.root_cause->diagnosis;
  RunFacts facts = facts_of(RunResult::failed);
  facts.endings = {an_ending(0, Exited{1}), an_ending(1, Exited{1}, AskedToStop::politely), an_ending(2, Exited{1}),
                   an_ending(3, Signalled{15, false}, AskedToStop::politely)};
  for (Ending& ending : facts.endings) ending.stderr_tail = diagnosis.traceback + "\n";
  facts.attempts = {{Attempt{0}, a_root_cause(2, Exited{1}, diagnosis)}};
  return summarize(a_plan(4), std::move(facts));
}

/// Rank 1 of 64 was killed for lack of memory, in the second attempt; a process was left behind.
inline RunReport an_out_of_memory_report() {
  Diagnosis diagnosis;
  diagnosis.category = Category::out_of_memory;
  diagnosis.summary =
      "Rank 1 (pid 4712) was killed by the kernel because the memory limit of 8.0 GiB was reached; its peak was 7.8 "
      "GiB.";
  diagnosis.evidence = {"rank 1 was killed by SIGKILL",
                        "the memory group's counter of out-of-memory kills went from 0 to 1", "memory limit: 8.0 GiB",
                        "peak memory of rank 1: 7.8 GiB"};
  diagnosis.advice = {
      "Start fewer replicas than 64, or load less in each: every one holds its own copy of what it loads.",
      "Raise the limit: `docker run --memory`, resources.limits.memory in Kubernetes, `sbatch --mem` in Slurm."};
  Diagnosis earlier;
  earlier.category = Category::port_in_use;
  earlier.summary = "Rank 0 (pid 4000) could not listen on port 29500: another process already uses it.";
  RunFacts facts = facts_of(RunResult::failed);
  for (int rank = 0; rank < 64; ++rank) {
    if (rank == 1) continue;
    const bool by_itself = rank == 17;
    facts.endings.push_back(by_itself ? an_ending(rank, Exited{1})
                                      : an_ending(rank, Signalled{15, false}, AskedToStop::politely));
  }
  facts.endings.push_back(an_ending(1, Signalled{9, false}));
  facts.endings.back().stderr_tail = "loading 1%\rloading 99%\nepoch 1\nepoch \xFF\n";
  facts.attempts = {{Attempt{0}, a_root_cause(0, Exited{1}, earlier)},
                    {Attempt{1}, a_root_cause(1, Signalled{9, false}, diagnosis)}};
  facts.leftovers = {{5000, "python worker.py", "survived SIGKILL (state D)"}};
  facts.notes = {"output was dropped: the reader was gone"};
  return summarize(a_plan(64), std::move(facts));
}

/// The template was killed while it loaded; no replica was born.
inline RunReport a_failed_template_report() {
  Diagnosis diagnosis;
  diagnosis.category = Category::segmentation_fault;
  diagnosis.summary = "The template (pid 4700) was killed by SIGSEGV (invalid memory access).";
  diagnosis.evidence = {"the template was killed by SIGSEGV"};
  diagnosis.advice = {"Without a traceback above: run with PYTHONFAULTHANDLER=1."};
  RunFacts facts = facts_of(RunResult::failed);
  facts.command = {"forklift", "launch", "--template", "--num-processes", "2", "train.py"};
  for (const int rank : {0, 1}) {
    facts.endings.push_back(an_ending(rank, Lost{"its start was cancelled before its turn"}, AskedToStop::politely));
    facts.endings.back().pid = 0;
    facts.endings.back().peak_rss_bytes.reset();
  }
  Ending process = an_ending(template_rank.value, Signalled{11, false});
  process.pid = 4700;
  process.stderr_tail = "loading the model\n";
  facts.template_ending = {process, TemplateEnding::State::ended};
  facts.attempts = {{Attempt{0}, RootCause{template_rank, 4700, Signalled{11, false}, diagnosis}}};
  return summarize(a_plan(2), std::move(facts));
}

inline RunReport an_interrupted_report() {
  RunFacts facts = facts_of(RunResult::interrupted);
  facts.stop_signal = 2;
  facts.ended_by = EndedBy::outside;
  facts.endings = {an_ending(0, Exited{0}, AskedToStop::politely),
                   an_ending(1, Signalled{2, false}, AskedToStop::politely),
                   an_ending(2, Exited{1}, AskedToStop::politely)};
  facts.attempts = {{Attempt{0}, std::nullopt}};
  return summarize(a_plan(3), std::move(facts));
}

inline RunReport a_time_limit_report() {
  RunFacts facts = facts_of(RunResult::interrupted);
  facts.stop_signal = 15;
  facts.ended_by = EndedBy::time_limit;
  facts.endings = {an_ending(0, Exited{0}, AskedToStop::politely),
                   an_ending(1, Signalled{15, false}, AskedToStop::politely)};
  facts.attempts = {{Attempt{0}, std::nullopt}};
  Plan plan = a_plan(2);
  plan.time.limit = std::chrono::milliseconds(2500);
  return summarize(plan, std::move(facts));
}

/// Succeeded in the third attempt.
inline RunReport a_restarted_report() {
  Diagnosis first;
  first.category = Category::python_exception;
  first.summary = "Rank 1 (pid 4001) raised ConnectionError: the data server is gone.";
  first.traceback = "Traceback (most recent call last):\nConnectionError: the data server is gone";
  Diagnosis second;
  second.category = Category::segmentation_fault;
  second.summary = "Rank 0 (pid 4100) was killed by SIGSEGV (invalid memory access).";
  RunFacts facts = facts_of(RunResult::succeeded);
  facts.endings = {an_ending(0, Exited{0}), an_ending(1, Exited{0})};
  facts.attempts = {{Attempt{0}, a_root_cause(1, Exited{1}, first)},
                    {Attempt{1}, a_root_cause(0, Signalled{11, false}, second)},
                    {Attempt{2}, std::nullopt}};
  return summarize(a_plan(2), std::move(facts));
}

inline RunReport a_report_with_notes() {
  RunFacts facts = facts_of(RunResult::succeeded);
  facts.endings = {an_ending(0, Exited{0}), an_ending(1, Exited{0})};
  facts.attempts = {{Attempt{0}, std::nullopt}};
  facts.leftovers = {{77, "python -m http.server", "left running after success: stopped with SIGTERM"}};
  facts.notes = {"2 replicas ran alone: nobody connected to the master port 29500"};
  return summarize(a_plan(2), std::move(facts));
}

inline RunReport a_failed_start_report() {
  Diagnosis diagnosis;
  diagnosis.category = Category::failed_to_start;
  diagnosis.summary = "Rank 0 could not be started: /data/train.sh may not be executed (permission denied).";
  diagnosis.evidence = {"rank 0 could not be started: execve /data/train.sh: Permission denied"};
  diagnosis.advice = {"Give it the permission: chmod +x /data/train.sh"};
  const Outcome outcome = FailedToStart{StartStep::execute, 13, "/data/train.sh"};
  RunFacts facts = facts_of(RunResult::failed);
  facts.endings = {an_ending(0, outcome), an_ending(1, outcome)};
  facts.attempts = {{Attempt{0}, a_root_cause(0, outcome, diagnosis)}};
  return summarize(a_plan(2), std::move(facts));
}

}  // namespace forklift::testing
