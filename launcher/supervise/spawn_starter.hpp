// Starts replicas as processes of their own program: clone and exec, some per turn of the loop.
#pragma once

#include <signal.h>

#include <boost/asio/io_context.hpp>
#include <optional>
#include <vector>

#include "launcher/supervise/launch_pad.hpp"
#include "launcher/supervise/replica_starter.hpp"
#include "launcher/supervise/run_inputs.hpp"
#include "launcher/system/frozen_image.hpp"

namespace forklift {

class SpawnStarter final : public ReplicaStarter {
 public:
  /// `inputs` must outlive it. `original_mask`: the signal mask that forklift was started with.
  SpawnStarter(boost::asio::io_context& io, const RunInputs& inputs, const sigset_t& original_mask);

  void start(const AttemptValues& values, Client& client) override;
  void cancel() override { cancelled_ = true; }

 private:
  void start_some();
  void start_one(const ReplicaPlan& replica);
  void complete();

  boost::asio::io_context& io_;
  const RunInputs& inputs_;
  const sigset_t original_mask_;
  std::optional<InheritedEnvironment> shared_environment_;  ///< Of the attempt that is being started.
  const std::vector<int> model_descriptors_;                ///< Inherited by every replica, at the same numbers.
  LaunchPad pad_;
  Client* client_ = nullptr;
  AttemptValues values_;
  std::size_t next_ = 0;
  bool cancelled_ = false;
};

}  // namespace forklift
