#include "launcher/supervise/template_process.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "launcher/supervise/model_variable.hpp"
#include "launcher/supervise/stream_ends.hpp"
#include "launcher/system/frozen_image.hpp"
#include "launcher/system/new_process.hpp"
#include "launcher/system/oom_preference.hpp"
#include "launcher/system/reap.hpp"
#include "launcher/system/spawn.hpp"

namespace forklift {
namespace {

using boost::asio::posix::stream_descriptor;

constexpr const char* template_prefix = "[template] ";

/// What only a replica has; in a world of one these stand among the variables of the group.
constexpr const char* variables_of_one_replica[] = {"RANK", "LOCAL_RANK", "ROLE_RANK"};

bool is_of_one_replica(const std::string& name) {
  return std::ranges::any_of(variables_of_one_replica, [&](const char* own) { return name == own; });
}

std::vector<std::string> unset_in_template(const Plan& plan) {
  std::vector<std::string> unset = plan.unset;
  for (const EnvironmentVariable& variable : plan.replicas.front().environment) unset.push_back(variable.name);
  unset.insert(unset.end(), std::begin(variables_of_one_replica), std::end(variables_of_one_replica));
  return unset;
}

}  // namespace

TemplateProcess::TemplateProcess(boost::asio::io_context& io, const RunInputs& inputs, const sigset_t& original_mask,
                                 Console& console, Callbacks callbacks)
    : io_(io), inputs_(inputs), original_mask_(original_mask), output_(io, console), callbacks_(std::move(callbacks)) {}

std::optional<FailedToStart> TemplateProcess::start(const AttemptValues& values) {
  auto pair = ControlSocket::make_pair();
  if (!pair) return FailedToStart{StartStep::prepare, pair.error().os_errno, "control socket"};
  control_ = std::move(pair.value().first);
  return spawn_program(values, pair.value().second.release());
}

std::optional<FailedToStart> TemplateProcess::spawn_program(const AttemptValues& values, Descriptor child_control) {
  output_.close_all();
  ReplicaPlan as_replica = inputs_.plan.replicas.front();
  as_replica.rank = template_rank;
  as_replica.standard_output = StreamRoute::console;
  as_replica.standard_error = StreamRoute::console;
  as_replica.cpus.clear();
  StreamEnds streams;
  if (auto failed = open_stream_ends(values, as_replica, streams)) return failed;
  const Descriptor null_device(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null_device.valid()) return FailedToStart{StartStep::prepare, errno, "/dev/null"};

  std::vector<EnvironmentVariable> own = group_environment(inputs_.plan, values);
  std::erase_if(own, [](const EnvironmentVariable& variable) { return is_of_one_replica(variable.name); });
  own.push_back({"FORKLIFT_TEMPLATE", "1"});
  own.push_back({"FORKLIFT_CONTROL_FD", std::to_string(child_control.get())});
  std::ranges::sort(own, {}, &EnvironmentVariable::name);
  add_model_variable(inputs_, own);
  const InheritedEnvironment inherited(inputs_.environment, unset_in_template(inputs_.plan));
  FrozenImage frozen(as_replica, inputs_.executable, own, inherited);
  ChildImage& image = frozen.image();
  image.standard_streams[0] = null_device.get();
  for (const OutputStream stream : both_streams) {
    image.standard_streams[index_of(stream) + 1] = streams.child_end[index_of(stream)].get();
  }
  std::vector<int> kept = inputs_.model ? inputs_.model->descriptors() : std::vector<int>{};
  kept.push_back(child_control.get());
  image.inherited = kept.data();
  image.inherited_count = kept.size();
  image.launcher = ::getpid();
  image.open_files = &inputs_.open_files;
  image.signal_mask = original_mask_;

  ending_ = {};
  ending_.rank = template_rank;
  ending_.attempt = values.attempt;
  ending_.started_s = inputs_.clock.seconds_since_launch();
  const ChildrenPreferredAsOomVictims preferred;
  auto started = spawn(image);
  if (auto* failed = std::get_if<FailedToStart>(&started)) return std::move(*failed);
  const std::string prefix = inputs_.plan.prefix_template.empty() ? "" : template_prefix;
  for (const OutputStream stream : both_streams) {
    output_.add(
        {template_rank, stream, std::move(streams.our_end[index_of(stream)]), StreamRoute::console, prefix, {}, {}});
  }
  auto& spawned = std::get<Spawned>(started);
  return watch(spawned.pid, std::move(spawned.pidfd));
}

std::optional<FailedToStart> TemplateProcess::adopt(pid_t pid, ControlSocket control) {
  ending_ = {};
  ending_.rank = template_rank;
  control_ = std::move(control);
  Descriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd.valid()) return FailedToStart{StartStep::clone, errno, "template"};
  return watch(pid, std::move(pidfd));
}

std::optional<FailedToStart> TemplateProcess::watch(pid_t pid, Descriptor pidfd) {
  boost::system::error_code refused;
  pidfd_.emplace(io_);
  pidfd_->assign(pidfd.get(), refused);
  if (!refused) {
    std::ignore = pidfd.release();
    Descriptor copy(::fcntl(control_.get(), F_DUPFD_CLOEXEC, 3));
    if (!copy.valid()) refused.assign(errno, boost::system::system_category());
    control_watch_.emplace(io_);
    if (!refused) control_watch_->assign(copy.get(), refused);
    if (!refused) std::ignore = copy.release();
  }
  if (refused) {
    pidfd_.reset();
    control_watch_.reset();
    end_unadopted(pid);
    return FailedToStart{StartStep::clone, refused.value(), {}};
  }
  pid_ = pid;
  ending_.pid = pid;
  asked_ = AskedToStop::no;
  state_ = State::loading;
  wait_for_messages();
  wait_for_end();
  return std::nullopt;
}

void TemplateProcess::wait_for_messages() {
  control_watch_->async_wait(stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
    if (!error) read_messages();
  });
}

void TemplateProcess::read_messages() {
  Arrived arrived;
  for (;;) {
    const Arrival arrival = control_.receive(arrived, ControlSocket::Mode::non_blocking);
    if (arrival == Arrival::nothing) return wait_for_messages();
    if (arrival == Arrival::closed) return;  // Its end follows.
    if (arrival == Arrival::foreign) continue;
    if (const auto* ready = std::get_if<control::Ready>(&arrived.message); ready != nullptr) {
      if (state_ != State::loading) continue;
      threads_ = ready->threads;
      state_ = State::ready;
      callbacks_.ready();
    } else if (const auto* forked = std::get_if<control::Forked>(&arrived.message); forked != nullptr) {
      callbacks_.forked(*forked);
    }
  }
}

void TemplateProcess::wait_for_end() {
  pidfd_->async_wait(stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
    if (!error) take_end();
  });
}

bool TemplateProcess::reap_if_template(pid_t pid) {
  if (pid_ == 0 || pid != pid_) return false;
  take_end();
  return true;
}

void TemplateProcess::take_end() {
  if (pid_ == 0) return;
  auto reaped = reap_by_pidfd(pidfd_->native_handle());
  if (!reaped) return wait_for_end();
  ending_.outcome = std::move(reaped->outcome);
  // It never got as far as it was started for, whatever its status says.
  if (state_ == State::loading && succeeded(ending_.outcome)) {
    ending_.outcome = FailedToStart{StartStep::fork_point, 0, inputs_.plan.replicas.front().argv.front()};
  }
  ending_.asked = asked_;
  ending_.ended_s = inputs_.clock.seconds_since_launch();
  ending_.peak_rss_bytes = own_peak(*reaped, 0);
  ending_.cpu_user_s = reaped->cpu_user_s;
  ending_.cpu_system_s = reaped->cpu_system_s;
  state_ = State::absent;
  pid_ = 0;
  boost::system::error_code ignored;
  pidfd_->close(ignored);
  control_watch_->close(ignored);
  control_.close();
  output_.drain();
  callbacks_.ended(ending());
}

Ending TemplateProcess::ending() const {
  Ending whole = ending_;
  whole.stdout_tail = output_.tail(template_rank, OutputStream::standard_output);
  whole.stderr_tail = output_.tail(template_rank, OutputStream::standard_error);
  return whole;
}

void TemplateProcess::stop(int signal) {
  if (pid_ == 0) return;
  asked_ = std::max(asked_, AskedToStop::politely);
  if (::kill(-pid_, signal) != 0) ::kill(pid_, signal);
  if (::kill(-pid_, SIGCONT) != 0) ::kill(pid_, SIGCONT);
}

void TemplateProcess::kill() {
  if (pid_ == 0) return;
  asked_ = AskedToStop::killed;
  if (::kill(-pid_, SIGKILL) != 0) ::kill(pid_, SIGKILL);
}

void TemplateProcess::close() {
  boost::system::error_code ignored;
  if (pidfd_) pidfd_->close(ignored);
  if (control_watch_) control_watch_->close(ignored);
  control_.close();
  output_.close_all();
}

}  // namespace forklift
