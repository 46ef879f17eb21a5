// RunReport: what report.json holds and what the text report is printed from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "forklift/diagnosis.hpp"
#include "forklift/ids.hpp"
#include "forklift/outcome.hpp"

namespace forklift {

enum class RunResult : std::uint8_t {
  succeeded,
  failed,
  interrupted,
  running,  ///< Only in a report that is asked for while the run goes on.
};

/// Who or what ended a run that its replicas did not end.
enum class EndedBy : std::uint8_t {
  nobody,      ///< Its replicas did, by success or failure.
  terminal,    ///< Ctrl-C, or an interrupt of the host program.
  outside,     ///< A signal to forklift.
  time_limit,  ///< `--time-limit`
  launcher,    ///< forklift itself was killed: its guard, its supervisor, or both.
  host,        ///< The program that called notebook_launcher() is gone.
};

/// What part a replica played in the end of its attempt.
enum class ReplicaRole : std::uint8_t {
  succeeded,     ///< Exited 0.
  root_cause,    ///< The first that failed.
  collateral,    ///< Fell because of it, or because it was stopped.
  failed_alike,  ///< Failed by itself as the root cause did, only later.
  running,       ///< Has not ended; only in the report of a run that goes on.
};

/// One replica in the last attempt.
struct ReplicaReport {
  Rank rank;
  LocalRank local_rank;
  Attempt attempt;
  int pid = 0;
  Outcome outcome;
  AskedToStop asked = AskedToStop::no;
  ReplicaRole role = ReplicaRole::succeeded;
  double started_s = 0;
  double ended_s = 0;
  std::optional<std::uint64_t> peak_rss_bytes;
  double cpu_user_s = 0;
  double cpu_system_s = 0;
  std::optional<std::int64_t> last_step;  ///< Of its last heartbeat (worker.hpp); empty if it gave none.
  std::optional<double> last_beat_s;      ///< When that was; seconds since the launch.
  std::vector<std::string> last_lines;    ///< Last lines of stderr, else of stdout; valid UTF-8.
  std::string stdout_file;                ///< Where `--redirects` or `--tee` put it; empty: nowhere.
  std::string stderr_file;
};

/// The process that the replicas of the run were forked from (`--template`, notebook_launcher).
struct TemplateReport {
  int pid = 0;
  std::optional<Outcome> outcome;       ///< Empty: it lived until the run was over.
  std::vector<std::string> last_lines;  ///< As for a replica.
};

/// What ended one attempt of the group; empty root_cause: it succeeded or was stopped from outside.
struct AttemptReport {
  Attempt attempt;
  std::optional<RootCause> root_cause;
};

/// A process that the job left behind, or that could not be ended.
struct Leftover {
  int pid = 0;
  std::string command;
  std::string what;  ///< e.g. "left running after success: stopped with SIGTERM", "survived SIGKILL (state D)".
};

/// What the replicas shared (`--model`).
struct ModelReport {
  std::string path;
  std::uint64_t bytes = 0;  ///< Of all storages, each once.
  std::uint64_t tensors = 0;
  std::uint64_t tied_groups = 0;
  std::string mapped_by;  ///< "file", "memfd", "huge tmpfs" or "tmpfs"
  /// What the measured replicas held together, shared pages divided among them (PSS); empty if none lived to be
  /// measured.
  std::optional<std::uint64_t> pss_bytes;
  int pss_replicas = 0;  ///< How many were measured.
};

struct RunReport {
  std::string run_id;
  std::string run_directory;
  std::vector<std::string> command;  ///< The words of the user's command line.
  std::string started;               ///< RFC 3339, with the offset.
  std::string ended;                 ///< Empty while the run goes on.
  int exit_status = 0;
  RunResult result = RunResult::succeeded;
  int stop_signal = 0;  ///< The signal that stopped the run, or 0.
  EndedBy ended_by = EndedBy::nobody;
  std::string launcher_error;          ///< Why forklift itself could not go on; empty: it could.
  std::optional<double> time_limit_s;  ///< Where it ended the run.
  int launcher_pid = 0;  ///< Of a run that goes on: the process to signal; 0 if it cannot be seen from here.
  int world_size = 0;
  std::optional<RootCause> root_cause;
  std::vector<AttemptReport> attempts;
  std::vector<ReplicaReport> replicas;
  std::optional<TemplateReport> template_process;
  std::optional<ModelReport> model;
  std::vector<Leftover> leftovers;
  std::vector<std::string> notes;  ///< e.g. "output was dropped: the reader was gone", "4 replicas ran alone".
};

}  // namespace forklift
