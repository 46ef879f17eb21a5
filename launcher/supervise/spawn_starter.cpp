#include "launcher/supervise/spawn_starter.hpp"

#include <unistd.h>

#include <boost/asio/post.hpp>
#include <cerrno>
#include <utility>

#include "launcher/supervise/model_variable.hpp"
#include "launcher/system/oom_preference.hpp"
#include "launcher/system/spawn.hpp"

namespace forklift {
namespace {

/// So many are started before the loop looks at everything else again: a stop request or a death in the middle of the
/// start must be seen.
constexpr int starts_per_turn = 32;

}  // namespace

SpawnStarter::SpawnStarter(boost::asio::io_context& io, const RunInputs& inputs, const sigset_t& original_mask)
    : io_(io),
      inputs_(inputs),
      original_mask_(original_mask),
      model_descriptors_(inputs.model ? inputs.model->descriptors() : std::vector<int>{}) {}

void SpawnStarter::start(const AttemptValues& values, Client& client) {
  values_ = values;
  client_ = &client;
  std::vector<EnvironmentVariable> shared = group_environment(inputs_.plan, values);
  add_model_variable(inputs_, shared);
  shared_environment_.emplace(inputs_.environment, inputs_.plan.unset, shared);
  next_ = 0;
  cancelled_ = false;
  start_some();
}

void SpawnStarter::start_some() {
  const auto& replicas = inputs_.plan.replicas;
  const ChildrenPreferredAsOomVictims preferred;
  for (int started = 0; started < starts_per_turn && next_ < replicas.size() && !cancelled_; ++started) {
    start_one(replicas[next_++]);
  }
  if (next_ < replicas.size() && !cancelled_) {
    boost::asio::post(io_, [this] { start_some(); });
    return;
  }
  complete();
}

void SpawnStarter::complete() {
  std::vector<const ReplicaPlan*> never_started;
  for (; next_ < inputs_.plan.replicas.size(); ++next_) never_started.push_back(&inputs_.plan.replicas[next_]);
  client_->start_is_complete(never_started);
}

void SpawnStarter::start_one(const ReplicaPlan& replica) {
  StartedReplica started;
  started.started_s = inputs_.clock.seconds_since_launch();
  const auto fail = [&](FailedToStart failure) {
    client_->replica_failed_to_start(replica, std::move(failure), started.started_s);
  };
  if (const int error = pad_.open(); error != 0) return fail({StartStep::prepare, error, "/dev/null"});
  if (auto failed = open_stream_ends(values_, replica, started.streams)) return fail(*std::move(failed));

  FrozenImage frozen(replica, inputs_.executable, own_environment(inputs_.plan, replica, values_),
                     *shared_environment_);
  ChildImage& image = frozen.image();
  image.inherited = model_descriptors_.data();
  image.inherited_count = model_descriptors_.size();
  if (replica.standard_input == StdinRoute::null_device) image.standard_streams[0] = pad_.null_device();
  for (const OutputStream stream : both_streams) {
    const std::size_t i = index_of(stream);
    Descriptor& end = started.streams.child_end[i];
    if (!end.valid()) continue;
    image.standard_streams[i + 1] = pad_.place(stream, std::move(end));
    if (image.standard_streams[i + 1] < 0) {
      const int error = errno;
      pad_.clear();
      return fail({StartStep::prepare, error, "output pipe"});
    }
  }
  image.launcher = ::getpid();
  image.open_files = &inputs_.open_files;
  image.signal_mask = original_mask_;
  if (inputs_.plan.interactive_rank == replica.rank) image.foreground_of = STDIN_FILENO;

  auto result = spawn(image);
  pad_.clear();
  if (auto* failed = std::get_if<FailedToStart>(&result)) return fail(std::move(*failed));
  auto& spawned = std::get<Spawned>(result);
  started.pid = spawned.pid;
  started.pidfd = std::move(spawned.pidfd);
  client_->replica_runs(replica, std::move(started));
}

}  // namespace forklift
