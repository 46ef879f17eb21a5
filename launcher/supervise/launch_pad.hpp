// Where a replica that is being started finds its standard streams.
#pragma once

#include "launcher/output/output_stream.hpp"
#include "worker/descriptor.hpp"

namespace forklift {

/// Three descriptors with low numbers, opened before those of any replica: a new process is given what lies below the
/// highest that it needs (start_process), so what its start costs does not grow with the replicas that run already.
class LaunchPad {
 public:
  /// Opens what is not open yet. errno, or 0.
  int open();

  [[nodiscard]] int null_device() const { return null_device_.get(); }

  /// Takes the replica's end of a stream. The number at which it is found now; -1: errno says why.
  int place(OutputStream stream, Descriptor end);

  /// Lets go of the ends, or nobody would see when the replica closes its own.
  void clear();

 private:
  Descriptor null_device_;  ///< Standard input of most replicas.
  Descriptor places_[2];
};

}  // namespace forklift
