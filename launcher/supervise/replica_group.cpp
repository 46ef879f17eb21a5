#include "launcher/supervise/replica_group.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <utility>

#include "launcher/output/prefix.hpp"
#include "launcher/system/new_process.hpp"
#include "launcher/system/spawn.hpp"

namespace forklift {
namespace {

/// So many are started before the loop looks at everything else again.
constexpr int starts_per_turn = 32;

constexpr const char* oom_score_of_replicas = "500";

constexpr OutputStream both_streams[] = {OutputStream::standard_output, OutputStream::standard_error};

StreamRoute route_of(const ReplicaPlan& replica, OutputStream stream) {
  return stream == OutputStream::standard_output ? replica.standard_output : replica.standard_error;
}

std::size_t index_of(OutputStream stream) { return stream == OutputStream::standard_output ? 0 : 1; }

FailedToStart failed_to_prepare(const std::string& subject) { return {StartStep::prepare, errno, subject}; }

}  // namespace

/// The descriptors of one replica while it is being started, by stream.
struct ReplicaGroup::Streams {
  Descriptor child_end[2];  ///< Invalid: the child gets our own 1 or 2.
  Descriptor our_end[2];
  Descriptor copy[2];  ///< The log file of a tee'd stream.
};

ReplicaGroup::ReplicaGroup(boost::asio::io_context& io, const RunInputs& inputs, const sigset_t& original_mask,
                           ReplicaOutput& output, Observer& observer)
    : io_(io),
      inputs_(inputs),
      original_mask_(original_mask),
      output_(output),
      observer_(observer),
      inherited_(inputs.environment, inputs.plan.unset) {}

void ReplicaGroup::start(const AttemptValues& values) {
  values_ = values;
  next_to_start_ = 0;
  cancelled_ = false;
  endings_.clear();
  endings_.reserve(inputs_.plan.replicas.size());  // Observers hold references to endings.
  start_some();
}

void ReplicaGroup::cancel_start() { cancelled_ = true; }

void ReplicaGroup::start_some() {
  const auto& replicas = inputs_.plan.replicas;
  for (int started = 0; started < starts_per_turn && next_to_start_ < replicas.size() && !cancelled_; ++started) {
    start_one(replicas[next_to_start_++]);
  }
  if (next_to_start_ < replicas.size() && !cancelled_) {
    boost::asio::post(io_, [this] { start_some(); });
    return;
  }
  for (; next_to_start_ < replicas.size(); ++next_to_start_) {
    observer_.replica_ended(record_end(replicas[next_to_start_], 0, AskedToStop::politely,
                                       inputs_.clock.seconds_since_launch(),
                                       {Lost{"its start was cancelled before its turn"}, 0, 0, 0}));
  }
  observer_.group_started();
}

void ReplicaGroup::start_one(const ReplicaPlan& replica) {
  const double now = inputs_.clock.seconds_since_launch();
  Streams streams;
  if (auto failed = open_streams(replica, streams)) {
    observer_.replica_ended(record_end(replica, 0, AskedToStop::no, now, {*failed, 0, 0, 0}));
    return;
  }
  FrozenImage frozen(replica, inputs_.executable, resolve_environment(inputs_.plan, replica, values_), inherited_);
  ChildImage& image = frozen.image();
  if (replica.standard_input == StdinRoute::null_device) image.standard_streams[0] = null_device_.get();
  for (const OutputStream stream : both_streams) {
    const std::size_t i = index_of(stream);
    if (streams.child_end[i].valid()) image.standard_streams[i + 1] = streams.child_end[i].get();
  }
  image.launcher = ::getpid();
  image.open_files = &inputs_.open_files;
  image.oom_score_adj = oom_score_of_replicas;
  image.signal_mask = original_mask_;
  if (inputs_.plan.interactive_rank == replica.rank) image.foreground_of = STDIN_FILENO;

  auto started = spawn(image);
  if (auto* failed = std::get_if<FailedToStart>(&started)) {
    observer_.replica_ended(record_end(replica, 0, AskedToStop::no, now, {std::move(*failed), 0, 0, 0}));
    return;
  }
  auto& spawned = std::get<Spawned>(started);
  boost::asio::posix::stream_descriptor pidfd(io_);
  boost::system::error_code refused;
  pidfd.assign(spawned.pidfd.get(), refused);
  if (refused) {
    end_unadopted(spawned.pid);
    observer_.replica_ended(
        record_end(replica, 0, AskedToStop::no, now, {FailedToStart{StartStep::clone, refused.value(), {}}, 0, 0, 0}));
    return;
  }
  std::ignore = spawned.pidfd.release();
  connect_output(replica, std::move(streams));
  adopt(replica, spawned.pid, std::move(pidfd));
}

std::optional<FailedToStart> ReplicaGroup::open_streams(const ReplicaPlan& replica, Streams& streams) {
  if (replica.standard_input == StdinRoute::null_device && !null_device_.valid()) {
    null_device_ = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!null_device_.valid()) return failed_to_prepare("/dev/null");
  }
  for (const OutputStream stream : both_streams) {
    if (auto failed = open_stream(replica, stream, streams)) return failed;
  }
  return std::nullopt;
}

std::optional<FailedToStart> ReplicaGroup::open_stream(const ReplicaPlan& replica, OutputStream stream,
                                                       Streams& streams) const {
  const std::size_t i = index_of(stream);
  const StreamRoute route = route_of(replica, stream);
  if (route == StreamRoute::terminal) return std::nullopt;
  if (route == StreamRoute::file || route == StreamRoute::console_and_file) {
    const std::string path = log_path(replica, stream);
    const std::string folder = path.substr(0, path.rfind('/'));
    ::mkdir(folder.substr(0, folder.rfind('/')).c_str(), 0700);
    ::mkdir(folder.c_str(), 0700);
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!file.valid()) return failed_to_prepare(path);
    (route == StreamRoute::file ? streams.child_end[i] : streams.copy[i]) = std::move(file);
    if (route == StreamRoute::file) return std::nullopt;
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed_to_prepare("output pipe");
  streams.our_end[i] = Descriptor(ends[0]);
  streams.child_end[i] = Descriptor(ends[1]);
  return std::nullopt;
}

void ReplicaGroup::connect_output(const ReplicaPlan& replica, Streams streams) {
  std::string prefix;
  if (!inputs_.plan.prefix_template.empty()) {
    prefix =
        expand_prefix(inputs_.plan.prefix_template, {replica.rank, replica.local_rank, inputs_.role, inputs_.hostname});
  }
  for (const OutputStream stream : both_streams) {
    const std::size_t i = index_of(stream);
    if (!streams.our_end[i].valid()) continue;
    output_.add({replica.rank, stream, std::move(streams.our_end[i]), route_of(replica, stream), prefix,
                 std::move(streams.copy[i]), log_path(replica, stream)});
  }
}

void ReplicaGroup::adopt(const ReplicaPlan& replica, pid_t pid, boost::asio::posix::stream_descriptor pidfd) {
  const auto [place, inserted] = running_by_pid_.emplace(
      pid, Running{&replica, pid, std::move(pidfd), AskedToStop::no, inputs_.clock.seconds_since_launch()});
  observer_.replica_started(replica, pid);
  watch(place->second);
}

void ReplicaGroup::watch(Running& running) {
  running.pidfd.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                           [this, pid = running.pid](const boost::system::error_code& error) {
                             if (!error) reap_if_replica(pid);
                           });
}

bool ReplicaGroup::reap_if_replica(pid_t pid) {
  const auto running = running_by_pid_.find(pid);
  if (running == running_by_pid_.end()) return false;
  auto reaped = reap_by_pidfd(running->second.pidfd.native_handle());
  if (reaped) {
    observer_.replica_ended(take_end(running, std::move(*reaped)));
  } else {
    watch(running->second);
  }
  return true;
}

const Ending& ReplicaGroup::take_end(std::map<pid_t, Running>::iterator running, Reaped reaped) {
  const Running ended = std::move(running->second);
  running_by_pid_.erase(running);
  return record_end(*ended.plan, ended.pid, ended.asked, ended.started_s, std::move(reaped));
}

const Ending& ReplicaGroup::record_end(const ReplicaPlan& replica, pid_t pid, AskedToStop asked, double started_s,
                                       Reaped reaped) {
  Ending ending;
  ending.rank = replica.rank;
  ending.local_rank = replica.local_rank;
  ending.attempt = values_.attempt;
  ending.pid = pid;
  ending.outcome = std::move(reaped.outcome);
  ending.asked = asked;
  if (asked == AskedToStop::no && wished_end(replica.rank, ending.outcome) != 0) ending.asked = AskedToStop::politely;
  ending.order = endings_of_run_++;
  ending.started_s = started_s;
  ending.ended_s = inputs_.clock.seconds_since_launch();
  // A child that was cloned starts with our own peak: only what exceeds it is its own.
  rusage own{};
  ::getrusage(RUSAGE_SELF, &own);
  if (reaped.peak_rss_bytes > static_cast<std::uint64_t>(own.ru_maxrss) * 1024U) {
    ending.peak_rss_bytes = reaped.peak_rss_bytes;
  }
  ending.cpu_user_s = reaped.cpu_user_s;
  ending.cpu_system_s = reaped.cpu_system_s;
  endings_.push_back(std::move(ending));
  return endings_.back();
}

// kill(2) by pid and group is safe here: a replica that is in the map has not been reaped, so its number is still its
// own.
void ReplicaGroup::signal_each(int signal, AskedToStop mark) {
  for (auto& [pid, running] : running_by_pid_) {
    if (running.asked < mark) running.asked = mark;
    if (::kill(-pid, signal) != 0) ::kill(pid, signal);
  }
}

void ReplicaGroup::stop(int signal) {
  signal_each(signal, AskedToStop::politely);
  signal_each(SIGCONT, AskedToStop::no);
}

void ReplicaGroup::kill() { signal_each(SIGKILL, AskedToStop::killed); }

void ReplicaGroup::pass(int signal) {
  if (signal == SIGQUIT) quit_was_passed_ = true;
  signal_each(signal, AskedToStop::no);
}

int ReplicaGroup::wished_end(Rank rank, const Outcome& outcome) const {
  const auto* signalled = std::get_if<Signalled>(&outcome);
  if (signalled == nullptr) return 0;
  if (signalled->signal == SIGINT && inputs_.plan.interactive_rank == rank) return SIGINT;
  return signalled->signal == SIGQUIT && quit_was_passed_ ? SIGQUIT : 0;
}

void ReplicaGroup::abandon() {
  while (!running_by_pid_.empty()) {
    const auto left = running_by_pid_.begin();
    boost::system::error_code ignored;
    left->second.pidfd.cancel(ignored);
    observer_.replica_abandoned(
        take_end(left, {Lost{"did not end after SIGKILL: it is stuck in the kernel"}, 0, 0, 0}));
  }
}

pid_t ReplicaGroup::pid_of(Rank rank) const {
  for (const auto& [pid, running] : running_by_pid_) {
    if (running.plan->rank == rank) return pid;
  }
  return 0;
}

std::string ReplicaGroup::log_path(const ReplicaPlan& replica, OutputStream stream) const {
  return fmt::format("{}/attempt_{}/{}/{}.log", values_.run_directory, values_.attempt.value, replica.rank.value,
                     stream == OutputStream::standard_output ? "stdout" : "stderr");
}

}  // namespace forklift
