#include "worker/model/model_files.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "worker/format/quoted.hpp"
#include "worker/format/safetensors_index.hpp"
#include "worker/model/file_io.hpp"

namespace forklift::weights {
namespace {

struct RegularFile {
  Descriptor descriptor;
  PartIdentity identity;
};

Result<RegularFile> open_regular(const std::string& path) {
  // Without waiting: a FIFO that nobody writes to would block for ever.
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!descriptor.valid()) {
    const int failed = errno;
    return Error{ErrorKind::usage, fmt::format("model {} cannot be opened: {}", in_quotes(path), std::strerror(failed)),
                 failed};
  }
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0) return system_error("look at " + in_quotes(path), errno);
  if (!S_ISREG(status.st_mode)) {
    return Error{ErrorKind::usage, fmt::format("model {} is no regular file", in_quotes(path))};
  }
  auto identity = identity_of(descriptor.get(), PartKind::file);
  if (!identity) return identity.error();
  return RegularFile{std::move(descriptor), identity.value()};
}

/// The text at `offset`, or as much of it as there is.
Result<std::string> read_text(const Descriptor& file, std::size_t length, std::uint64_t offset,
                              const std::string& path) {
  std::string text(length, '\0');
  const Transferred read = read_at(file.get(), text.data(), length, offset);
  if (read.os_errno != 0) return system_error("read " + in_quotes(path), read.os_errno);
  text.resize(read.bytes);
  return text;
}

Result<SafetensorsIndex> read_index(const std::string& path) {
  auto file = open_regular(path);
  if (!file) return file.error();
  const std::uint64_t length = file.value().identity.length;
  if (length > longest_safetensors_header) {
    return Error{ErrorKind::usage, fmt::format("{} has {} bytes: too long for an index (at most {})", in_quotes(path),
                                               length, longest_safetensors_header)};
  }
  auto text = read_whole(file.value().descriptor.get(), length, path);
  if (!text) return text.error();
  return parse_safetensors_index(text.value(), path);
}

Result<OpenFiles> open_shards(const std::string& index_path) {
  const auto index = read_index(index_path);
  if (!index) return index.error();
  const std::string folder = index_path.substr(0, index_path.rfind('/') + 1);
  OpenFiles opened;
  std::vector<SafetensorsHeader> headers;
  for (const std::string& name : index.value().files) {
    auto file = open_model_file(folder + name);
    if (!file) {
      Error error = file.error();
      error.message += fmt::format(" (a file of the index {})", in_quotes(index_path));
      return error;
    }
    headers.push_back(file.value().header);
    opened.files.push_back(std::move(file).value());
  }
  auto note = check_safetensors_index(index.value(), headers, index_path);
  if (!note) return note.error();
  if (note.value()) opened.notes.push_back(*note.value());
  return opened;
}

}  // namespace

Result<ModelFile> open_model_file(const std::string& path) {
  auto file = open_regular(path);
  if (!file) return file.error();
  auto& [descriptor, identity] = file.value();
  const auto first = read_text(descriptor, safetensors_length_bytes, 0, path);
  if (!first) return first.error();
  const auto length = safetensors_header_length(first.value(), identity.length, path);
  if (!length) return length.error();
  const auto json = read_text(descriptor, length.value(), safetensors_length_bytes, path);
  if (!json) return json.error();
  auto header = parse_safetensors_header(json.value(), identity.length, path);
  if (!header) return header.error();
  ModelPart part{PartKind::file, path, identity, descriptor.get()};
  return ModelFile{std::move(descriptor), std::move(part), std::move(header).value()};
}

Result<OpenFiles> open_model_files(const ModelPath& path) {
  if (path.kind == ModelPath::Kind::index) return open_shards(path.file);
  auto file = open_model_file(path.file);
  if (!file) return file.error();
  OpenFiles opened;
  opened.files.push_back(std::move(file).value());
  return opened;
}

}  // namespace forklift::weights
