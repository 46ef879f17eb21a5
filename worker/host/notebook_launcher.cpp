// launch_replicas(): fork the processes, wait for what they say, read the report.
#include "forklift/notebook_launcher.hpp"

#include <cxxabi.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <typeinfo>

#include "launcher/report/report_format.hpp"
#include "worker/fork_server.hpp"
#include "worker/host/device_runtime.hpp"
#include "worker/host/find_binary.hpp"
#include "worker/host/host_processes.hpp"
#include "worker/host/interrupt_watch.hpp"

namespace forklift {
namespace {

constexpr std::size_t largest_result = std::size_t{4} << 30;
constexpr int exit_of_exception = 1;

using Function = std::function<ReplicaValue(Replica&)>;

// ---- in a replica -------------------------------------------------------------------------------------------------

std::string readable(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(mangled, nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && name ? name.get() : mangled;
}

struct Thrown {
  std::string type;
  std::string text;
};

/// What `function` returns or throws.
std::variant<ReplicaValue, Thrown> call(const Function& function, Replica& self) {
  try {
    return function(self);
  } catch (const std::exception& error) {
    return Thrown{readable(typeid(error).name()), error.what()};
  } catch (...) {
    const std::type_info* type = abi::__cxa_current_exception_type();
    return Thrown{type == nullptr ? "an unknown exception" : readable(type->name()), ""};
  }
}

control::Returned::Value plain_part(const ReplicaValue& value) {
  return std::visit(
      [](const auto& held) -> control::Returned::Value {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::string> || std::is_same_v<Held, Bytes>) {
          return std::monostate{};
        } else {
          return held;
        }
      },
      value);
}

Result<void> send_result(const ReplicaSeat& seat, const ReplicaValue& value) {
  control::Returned returned{seat.attempt, seat.rank, plain_part(value), control::Returned::Payload::none};
  std::string_view payload;
  if (const auto* text = std::get_if<std::string>(&value)) {
    returned.payload = control::Returned::Payload::text;
    payload = *text;
  } else if (const auto* bytes = std::get_if<Bytes>(&value)) {
    returned.payload = control::Returned::Payload::bytes;
    payload = {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
  }
  if (returned.payload == control::Returned::Payload::none) return seat.control.send(returned);
  const auto memory = sealed_memory("forklift-result", payload);
  if (!memory) return memory.error();
  const int descriptor = memory.value().get();
  return seat.control.send(returned, {&descriptor, 1});
}

void flush_output() {
  std::cout.flush();
  std::clog.flush();
  std::fflush(nullptr);
}

/// The life of a replica; the host's frames below are never returned to.
[[noreturn]] void run_replica(const ReplicaSeat& seat, const Function& function) {
  Replica self = Replica::from_environment();
  const auto outcome = call(function, self);
  flush_output();
  if (const auto* thrown = std::get_if<Thrown>(&outcome)) {
    self.report_failure(thrown->type, thrown->text);
    ::_exit(exit_of_exception);
  }
  if (std::holds_alternative<std::monostate>(std::get<ReplicaValue>(outcome))) ::_exit(0);
  if (const auto sent = send_result(seat, std::get<ReplicaValue>(outcome)); !sent) {
    self.report_failure("forklift::Error", "the result could not be sent: " + sent.error().message);
    ::_exit(exit_of_exception);
  }
  ::_exit(0);
}

// ---- in the host --------------------------------------------------------------------------------------------------

struct Pipe {
  Descriptor reader;
  Descriptor writer;
};

Result<Pipe> open_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return Error{ErrorKind::system, std::string("cannot make a pipe for the output: ") + std::strerror(errno), errno};
  }
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

/// Waits for the supervisor's last word, and passes everything on until then.
class HostWait {
 public:
  HostWait(const NotebookOptions& options, HostProcesses processes, Descriptor output, Descriptor error)
      : options_(options), processes_(std::move(processes)), output_(std::move(output)), error_(std::move(error)) {
    if (!options.interrupted) interrupts_.emplace();
  }

  Result<NotebookReport> run() {
    while (processes_.supervisor.valid() || output_.valid() || error_.valid()) wait_once();
    wait_for_guard();
    if (refused_) return Error{refused_->kind, refused_->message};
    if (run_directory_.empty()) {
      return Error{ErrorKind::system, "the supervisor of the replicas ended without a report; nothing of them is left"};
    }
    return read_report();
  }

 private:
  void wait_once() {
    pollfd watched[] = {{processes_.supervisor.get(), POLLIN, 0},
                        {output_.get(), POLLIN, 0},
                        {error_.get(), POLLIN, 0},
                        {interrupts_ ? interrupts_->descriptor() : -1, POLLIN, 0}};
    if (::poll(watched, std::size(watched), -1) < 0) {
      if (errno == EINTR && options_.interrupted && options_.interrupted()) ask_to_stop();
      return;
    }
    if (watched[3].revents != 0) {
      for (int times = interrupts_->take(); times > 0; --times) ask_to_stop();
    }
    if (watched[1].revents != 0) pass_on(output_, SinkStream::standard_output);
    if (watched[2].revents != 0) pass_on(error_, SinkStream::standard_error);
    if (watched[0].revents != 0) listen();
  }

  void ask_to_stop() {
    if (!processes_.supervisor.valid()) return;
    std::ignore = processes_.supervisor.send(control::HostStop{SIGINT}, {}, ControlSocket::Mode::non_blocking);
  }

  void pass_on(Descriptor& pipe, SinkStream stream) {
    const ssize_t got = ::read(pipe.get(), buffer_.data(), buffer_.size());
    if (got < 0 && errno == EINTR) return;
    if (got <= 0) return pipe.close();
    options_.sink(stream, {buffer_.data(), static_cast<std::size_t>(got)});
  }

  void listen() {
    Arrived arrived;
    for (;;) {
      switch (processes_.supervisor.receive(arrived, ControlSocket::Mode::non_blocking)) {
        case Arrival::message:
          take(arrived);
          break;
        case Arrival::foreign:
          break;
        case Arrival::nothing:
          return;
        case Arrival::closed:
          processes_.supervisor.close();
          return;
      }
    }
  }

  void take(const Arrived& arrived) {
    if (const auto* returned = std::get_if<control::Returned>(&arrived.message)) {
      keep(*returned, arrived.descriptors);
    } else if (const auto* note = std::get_if<control::HostNote>(&arrived.message)) {
      report_.notes.push_back(note->text);
    } else if (const auto* refused = std::get_if<control::HostRefused>(&arrived.message)) {
      refused_ = *refused;
    } else if (const auto* ended = std::get_if<control::RunEnded>(&arrived.message)) {
      run_directory_ = ended->run_directory;
    }
  }

  void keep(const control::Returned& returned, const std::vector<Descriptor>& descriptors) {
    if (returned.attempt > attempt_) {
      report_.values.clear();  // Of an attempt that failed.
      attempt_ = returned.attempt;
    }
    const std::size_t rank = returned.rank.index();
    if (rank >= static_cast<std::size_t>(options_.num_processes)) return;
    if (report_.values.size() <= rank) report_.values.resize(rank + 1);
    ReplicaValue& value = report_.values[rank];
    std::visit([&](const auto& held) { value = held; }, returned.value);
    if (returned.payload == control::Returned::Payload::none || descriptors.empty()) return;
    auto bytes = read_sealed_memory(descriptors.front().get(), largest_result);
    if (!bytes) {
      report_.notes.push_back("the result of rank " + std::to_string(returned.rank.value) +
                              " is lost: " + bytes.error().message);
    } else if (returned.payload == control::Returned::Payload::text) {
      value = std::move(bytes).value();
    } else {
      const auto* begin = reinterpret_cast<const std::byte*>(bytes.value().data());
      value = Bytes(begin, begin + bytes.value().size());
    }
  }

  /// When it is gone, nothing of the job is left.
  void wait_for_guard() const {
    if (!processes_.guard_pidfd.valid()) return;
    pollfd watched{processes_.guard_pidfd.get(), POLLIN, 0};
    while (::poll(&watched, 1, -1) < 0 && errno == EINTR) {
    }
  }

  Result<NotebookReport> read_report() {
    const std::string path = run_directory_ + "/report.json";
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    auto run = parse_report(text);
    if (!run) return Error{ErrorKind::system, "the run left no readable report in " + path};
    report_.run = std::move(run).value();
    // Those of an attempt that failed are not the results of one whose replicas returned nothing.
    const bool are_of_the_last = report_.run.attempts.empty() || report_.run.attempts.back().attempt == attempt_;
    if (!are_of_the_last) report_.values.clear();
    report_.values.resize(std::max(report_.values.size(), static_cast<std::size_t>(report_.run.world_size)));
    return std::move(report_);
  }

  const NotebookOptions& options_;
  HostProcesses processes_;
  Descriptor output_;
  Descriptor error_;
  std::optional<InterruptWatch> interrupts_;
  std::vector<char> buffer_ = std::vector<char>(std::size_t{64} << 10);
  NotebookReport report_;
  Attempt attempt_;
  std::optional<control::HostRefused> refused_;
  std::string run_directory_;
};

/// accelerate's notebook_launcher, too, calls the function itself where one process is wanted.
NotebookReport run_inline(const Function& function) {
  NotebookReport report;
  Replica self = Replica::from_environment();
  const auto outcome = call(function, self);
  report.run.world_size = 1;
  ReplicaReport replica;
  replica.pid = ::getpid();
  if (const auto* thrown = std::get_if<Thrown>(&outcome)) {
    Diagnosis diagnosis;
    diagnosis.category = Category::cpp_exception;
    diagnosis.summary = "The function threw " + thrown->type + (thrown->text.empty() ? "" : ": " + thrown->text) + ".";
    replica.outcome = Exited{exit_of_exception};
    replica.role = ReplicaRole::root_cause;
    report.run.result = RunResult::failed;
    report.run.exit_status = exit_of_exception;
    report.run.root_cause = RootCause{Rank{0}, replica.pid, replica.outcome, std::move(diagnosis)};
    report.values.emplace_back();
  } else {
    report.values.push_back(std::get<ReplicaValue>(outcome));
  }
  report.run.replicas.push_back(std::move(replica));
  return report;
}

HostProcessesPlan plan_of(const NotebookOptions& options, std::string binary) {
  HostProcessesPlan plan;
  plan.binary = std::move(binary);
  plan.launch_words = {"--num-processes", std::to_string(options.num_processes), "--template", "--no-python"};
  plan.launch_words.insert(plan.launch_words.end(), options.launch_options.begin(), options.launch_options.end());
  plan.launch_words.emplace_back("--");
  plan.launch_words.push_back(options.name);
  return plan;
}

std::string thread_note(const std::vector<std::string>& threads) {
  std::string names;
  for (const std::string& name : threads) names += (names.empty() ? "" : ", ") + name;
  return "this process has other threads (" + names +
         "): the replicas do not have them, and a lock that one of them holds stays locked there";
}

}  // namespace

Result<NotebookReport> launch_replicas(const Function& function, const NotebookOptions& options) {
  if (options.num_processes < 1 || options.num_processes > 1'000'000) {
    return Error{ErrorKind::usage, "num_processes: got " + std::to_string(options.num_processes) +
                                       ", expected a number from 1 to 1000000"};
  }
  if (options.num_processes == 1) return run_inline(function);
  const ProcessPhotograph self = photograph_of_self();
  if (options.runtime_check == RuntimeCheck::refuse) {
    if (const auto runtime = runtime_that_forbids_fork(self)) return Error{ErrorKind::usage, *runtime};
  }
  auto binary = find_forklift_binary(options.binary);
  if (!binary) return binary.error();

  HostProcessesPlan plan = plan_of(options, std::move(binary).value());
  Pipe output;
  Pipe error;
  if (options.sink) {
    for (Pipe* pipe : {&output, &error}) {
      auto opened = open_pipe();
      if (!opened) return opened.error();
      *pipe = std::move(opened).value();
    }
    plan.supervisor_output = output.writer.get();
    plan.supervisor_error = error.writer.get();
  }
  flush_output();
  if (options.hooks.before) options.hooks.before();
  auto processes = fork_host_processes(plan);
  if (processes && processes.value().self == HostProcesses::Self::in_template) {
    if (options.hooks.child) options.hooks.child();
    for (Descriptor* end : {&output.reader, &output.writer, &error.reader, &error.writer}) end->close();
    const ReplicaSeat seat = serve_forks(std::move(processes.value().forks), options.hooks);
    run_replica(seat, function);
  }
  if (options.hooks.parent) options.hooks.parent();
  if (!processes) return processes.error();
  output.writer.close();
  error.writer.close();
  auto report =
      HostWait(options, std::move(processes).value(), std::move(output.reader), std::move(error.reader)).run();
  if (report && !self.threads.empty()) report.value().notes.push_back(thread_note(self.threads));
  return report;
}

}  // namespace forklift
