// Mapping the pages of a model in the background.
#include <signal.h>

#include <algorithm>
#include <system_error>
#include <thread>

#include "forklift/shared_model.hpp"
#include "worker/model/opened.hpp"
#include "worker/model/populate.hpp"

namespace forklift {

namespace weights {

class Warming {
 public:
  explicit Warming(std::shared_ptr<const Mapped> mapped) : mapped_(std::move(mapped)) {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);  // Signals are for the threads of the program.
    try {
      thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    } catch (const std::system_error&) {  // No thread to be had: the pages come at their first touch.
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void wait() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run(const std::stop_token& stop) const {
    constexpr std::size_t step = std::size_t{16} << 20U;  // Some milliseconds from the page cache.
    for (const Region& region : mapped_->regions) {
      for (std::size_t begin = 0; begin < region.size(); begin += step) {
        if (stop.stop_requested()) return;
        populate(region.data() + begin, std::min(step, region.size() - begin));
      }
    }
  }

  std::shared_ptr<const Mapped> mapped_;
  std::jthread thread_;  // Ends before what it works on.
};

}  // namespace weights

ModelWarmer::ModelWarmer(SharedModel model) : warming_(std::make_unique<weights::Warming>(std::move(model.mapped_))) {}
ModelWarmer::ModelWarmer(ModelWarmer&&) noexcept = default;
ModelWarmer& ModelWarmer::operator=(ModelWarmer&&) noexcept = default;
ModelWarmer::~ModelWarmer() = default;
void ModelWarmer::wait() {
  if (warming_) warming_->wait();
}

}  // namespace forklift
