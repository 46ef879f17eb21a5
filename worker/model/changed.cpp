// Whether the files of a model are still those that were opened.
#include <fmt/core.h>
#include <sys/stat.h>

#include "worker/format/quoted.hpp"
#include "worker/model/file_io.hpp"
#include "worker/model/opened.hpp"

namespace forklift::weights {
namespace {

/// What became of the open file itself, whatever its name is by now.
std::optional<std::string> changed_content(const ModelPart& part) {
  const auto now = identity_of(part.descriptor, part.kind);
  if (!now) return now.error().message;
  const std::string file = in_quotes(part.path);
  const std::uint64_t before = part.identity.length;
  if (now.value().length < before) {
    return fmt::format(
        "{} has shrunk from {} to {} bytes since it was opened: reading what is gone ends a process with SIGBUS", file,
        before, now.value().length);
  }
  if (now.value().length > before) {
    return fmt::format("{} has grown from {} to {} bytes since it was opened", file, before, now.value().length);
  }
  if (now.value().modified_ns != part.identity.modified_ns) {
    return fmt::format(
        "{} was written to since it was opened: what the replicas see may be neither the old nor the new model", file);
  }
  return std::nullopt;
}

/// Whether the name stands for another file. The mapping keeps the old one, so this does no harm, but is worth knowing.
std::optional<std::string> replaced(const ModelPart& part) {
  struct stat status {};
  if (::stat(part.path.c_str(), &status) != 0) {
    return fmt::format("{} is gone since it was opened; the open one stays in use", in_quotes(part.path));
  }
  if (status.st_dev == part.identity.device && status.st_ino == part.identity.inode) return std::nullopt;
  return fmt::format("{} is another file since it was opened; the old one stays in use", in_quotes(part.path));
}

}  // namespace

std::optional<std::string> changed(const ModelLayout& layout) {
  for (const ModelPart& part : layout.parts) {
    if (part.kind != PartKind::file) continue;
    if (auto sentence = changed_content(part)) return sentence;
    if (auto sentence = replaced(part)) return sentence;
  }
  return std::nullopt;
}

}  // namespace forklift::weights
