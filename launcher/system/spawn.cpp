#include "launcher/system/spawn.hpp"

#include <unistd.h>

#include <algorithm>

#include "launcher/system/clone_launcher.hpp"
#include "worker/child_setup.hpp"

namespace forklift {
namespace {

namespace process = boost::process::v2;

/// One above the highest descriptor that the image speaks of.
int descriptors_below(const ChildImage& image) {
  int highest = std::max({STDERR_FILENO, image.foreground_of, image.standard_streams[0], image.standard_streams[1],
                          image.standard_streams[2]});
  for (std::size_t i = 0; i < image.inherited_count; ++i) highest = std::max(highest, image.inherited[i]);
  return highest + 1;
}

/// The Boost.Process initializer that performs the child's side of the image.
struct ImageInitializer {
  const ChildImage& image;

  boost::system::error_code on_setup(clone_launcher& launcher, const boost::filesystem::path&,
                                     const char* const*&) const {
    launcher.env = image.envp;
    launcher.descriptors_below = descriptors_below(image);
    return {};
  }

  boost::system::error_code on_exec_setup(clone_launcher& launcher, const boost::filesystem::path&,
                                          const char* const*&) const noexcept {
    const ChildFailure failure = set_up_child(image);
    if (failure.os_errno != 0) {
      launcher.failed_step = failure.step;
      return {failure.os_errno, boost::system::system_category()};
    }
    unblock_signals(image);
    return {};
  }
};

std::string subject_of(StartStep step, const ChildImage& image) {
  switch (step) {
    case StartStep::execute:
      return image.executable;
    case StartStep::working_directory:
      return image.working_directory == nullptr ? "" : image.working_directory;
    case StartStep::prepare:
    case StartStep::clone:
    case StartStep::process_group:
    case StartStep::parent_death:
    case StartStep::standard_streams:
    case StartStep::descriptors:
    case StartStep::affinity:
    case StartStep::resource_limit:
    case StartStep::terminal:
    case StartStep::fork_point:
      return {};
  }
  return {};
}

}  // namespace

std::variant<Spawned, FailedToStart> spawn(const ChildImage& image) {
  clone_launcher launcher;
  boost::system::error_code error;
  launcher.start(error, image.executable, image.argv, ImageInitializer{image});
  if (error) return FailedToStart{launcher.failed_step, error.value(), subject_of(launcher.failed_step, image)};
  return Spawned{launcher.pid, std::move(launcher.pidfd)};
}

}  // namespace forklift
