#include "launcher/system/termination_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "worker/descriptor.hpp"

namespace forklift {

void write_termination_log(std::string_view text) {
  constexpr std::size_t kubernetes_limit = 4096;
  const Descriptor file(::open("/dev/termination-log", O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (!file.valid()) return;
  const std::string_view shown = text.substr(0, kubernetes_limit);
  [[maybe_unused]] const auto written = ::write(file.get(), shown.data(), shown.size());
}

}  // namespace forklift
