// The line that a terminal shows while a model is copied.
#include <fmt/core.h>
#include <unistd.h>

#include <memory>

#include "forklift/model_options.hpp"
#include "worker/format/byte_text.hpp"

namespace forklift {
namespace {

constexpr double shortest_seconds = 1;  // A shorter copy is not worth a line.

std::string text_of(std::string_view title, const CopyProgress& progress) {
  const double rate = progress.seconds > 0 ? static_cast<double>(progress.copied_bytes) / progress.seconds : 0;
  return fmt::format("forklift: {}: {} of {}, {}/s", title, format_bytes(progress.copied_bytes),
                     format_bytes(progress.total_bytes), format_bytes(static_cast<std::uint64_t>(rate)));
}

}  // namespace

CopyObserver progress_line(std::string_view title) {
  if (::isatty(STDERR_FILENO) != 1) return {};
  return [title = std::string(title), last_width = std::size_t{0}](const CopyProgress& progress) mutable {
    const bool ended = progress.copied_bytes == progress.total_bytes;
    if (progress.seconds < shortest_seconds && last_width == 0) return;
    const std::string text = text_of(title, progress);
    const std::string line = fmt::format("\r{:<{}}{}", text, last_width, ended ? "\n" : "");
    last_width = text.size();
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  };
}

}  // namespace forklift
