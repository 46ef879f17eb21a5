// Appends the run's events to events.jsonl, one write per turn of the loop.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <string>

#include "launcher/report/event_log.hpp"
#include "worker/descriptor.hpp"

namespace forklift {

class EventWriter {
 public:
  /// Opens (creates) RUN_DIRECTORY/events.jsonl and holds its lock (run_lock.hpp) from then on. If that fails nothing
  /// is written and problem() says why.
  EventWriter(boost::asio::io_context& io, const std::string& run_directory);

  /// Fills in sequence and clocks. Written at the end of this turn of the loop.
  void add(RunEvent event);
  void flush();

  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  boost::asio::io_context& io_;
  Descriptor file_;
  std::string path_;
  std::string pending_;
  std::uint64_t sequence_ = 0;
  std::string problem_;
};

}  // namespace forklift
