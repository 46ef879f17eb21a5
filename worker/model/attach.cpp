// A model from inherited descriptors.
#include <fcntl.h>
#include <fmt/core.h>

#include <cstdlib>

#include "forklift/shared_model.hpp"
#include "worker/format/model_manifest.hpp"
#include "worker/format/quoted.hpp"
#include "worker/model/file_io.hpp"
#include "worker/model/opened.hpp"

namespace forklift {
namespace {

/// A manifest of more bytes comes from nobody.
constexpr std::uint64_t longest_manifest = std::uint64_t{1} << 30U;

Result<ModelLayout> read_manifest(int descriptor) {
  const auto identity = weights::identity_of(descriptor, PartKind::memfd);
  if (!identity) return identity.error();
  const std::uint64_t length = identity.value().length;
  if (length > longest_manifest) {
    return Error{ErrorKind::usage,
                 fmt::format("descriptor {} is no manifest of a model: it has {} bytes", descriptor, length)};
  }
  const auto bytes = weights::read_whole(descriptor, length, fmt::format("descriptor {}", descriptor));
  if (!bytes) return bytes.error();
  return decode_manifest(bytes.value());
}

/// Shared memory that somebody could shrink would be a SIGBUS some day.
Result<void> check_size_is_fixed(const ModelPart& part) {
  if (part.kind != PartKind::memfd || (::fcntl(part.descriptor, F_GET_SEALS) & F_SEAL_SHRINK) != 0) return {};
  return Error{ErrorKind::usage, fmt::format("descriptor {} is no sealed memory of a model", part.descriptor)};
}

/// A descriptor that was closed and opened again for something else has another identity.
Result<void> check_part(const ModelPart& part) {
  const auto identity = weights::identity_of(part.descriptor, part.kind);
  if (!identity) return identity.error();
  if (identity.value() == part.identity) return check_size_is_fixed(part);
  const bool same_file =
      identity.value().device == part.identity.device && identity.value().inode == part.identity.inode;
  const std::string name = part.path.empty() ? "shared memory" : in_quotes(part.path);
  return Error{ErrorKind::usage, same_file ? fmt::format("{} has changed since the model was opened", name)
                                           : fmt::format("descriptor {} is not {} of the model, but something else",
                                                         part.descriptor, name)};
}

/// What may be asked for beside what the handle has.
bool may_have(ModelAccess wanted, ModelAccess given) {
  return wanted == given || wanted == ModelAccess::read ||
         (wanted == ModelAccess::copy_on_write && given == ModelAccess::read);
}

}  // namespace

Result<SharedModel> SharedModel::attach(int manifest, std::span<const int> parts, std::optional<ModelAccess> access) {
  auto layout = read_manifest(manifest);
  if (!layout) return layout.error();
  auto opened = std::make_shared<weights::Opened>();
  opened->layout = std::move(layout).value();
  std::vector<ModelPart>& own = opened->layout.parts;
  if (!parts.empty() && parts.size() != own.size()) {
    return Error{ErrorKind::usage,
                 fmt::format("{} descriptors were given for a model of {} parts", parts.size(), own.size())};
  }
  for (std::size_t i = 0; i < parts.size(); ++i) own[i].descriptor = parts[i];
  for (const ModelPart& part : own) {
    if (auto checked = check_part(part); !checked) return checked.error();
  }
  if (access && !may_have(*access, opened->layout.access)) {
    return Error{ErrorKind::usage,
                 "this model cannot be had as ModelAccess::shared: whoever opened it chose another access"};
  }
  const ModelAccess chosen = access.value_or(opened->layout.access);
  opened->bytes = stored_bytes(opened->layout);
  auto mapped = weights::map_model(std::move(opened), chosen, Prefault::no);
  if (!mapped) return mapped.error();
  ::fcntl(manifest, F_SETFD, FD_CLOEXEC);
  for (const ModelPart& part : mapped.value()->opened->layout.parts) ::fcntl(part.descriptor, F_SETFD, FD_CLOEXEC);
  return SharedModel(std::move(mapped).value());
}

Result<SharedModel> SharedModel::from_environment(std::optional<ModelAccess> access) {
  const char* const text = std::getenv(ModelHandle::environment_name);
  if (text == nullptr) {
    return Error{ErrorKind::usage,
                 fmt::format("{} is not set: this program was not started with a model (forklift launch --model PATH)",
                             ModelHandle::environment_name)};
  }
  const auto descriptors = parse_descriptors(text);
  if (!descriptors) {
    return Error{ErrorKind::usage, fmt::format("{} is {}, expected numbers of descriptors such as 5:6,7",
                                               ModelHandle::environment_name, in_quotes(text))};
  }
  return attach(descriptors->manifest, descriptors->parts, access);
}

const Result<SharedModel>& model() {
  static const Result<SharedModel> of_this_process = SharedModel::from_environment();
  return of_this_process;
}

}  // namespace forklift
