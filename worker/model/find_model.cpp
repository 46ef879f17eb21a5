#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "worker/format/quoted.hpp"
#include "worker/model/model_files.hpp"

namespace forklift::weights {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view file_suffix = ".safetensors";
constexpr std::string_view index_suffix = ".safetensors.index.json";

Error not_a_model(const fs::path& path, std::string_view what) {
  return {ErrorKind::usage, fmt::format("model {}: {}", in_quotes(path.string()), what)};
}

ModelPath model_path(const fs::path& file) {
  const bool index = file.string().ends_with(".json");
  return {file.string(), index ? ModelPath::Kind::index : ModelPath::Kind::safetensors};
}

/// The only entry whose name ends so; empty if there is none. Several are an error.
Result<fs::path> only_entry(const fs::path& folder, std::string_view suffix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().string().ends_with(suffix)) found.push_back(entry->path());
  }
  if (error) return not_a_model(folder, "the folder cannot be read: " + error.message());
  if (found.size() <= 1) return found.empty() ? fs::path() : found.front();
  std::sort(found.begin(), found.end());
  return not_a_model(folder, fmt::format("the folder has {} files *{} ({}, {}{}); name one of them", found.size(),
                                         suffix, in_quotes(found[0].filename().string()),
                                         in_quotes(found[1].filename().string()), found.size() > 2 ? ", …" : ""));
}

Result<ModelPath> find_in_folder(const fs::path& folder) {
  for (const char* name : {"model.safetensors", "model.safetensors.index.json"}) {
    std::error_code error;
    if (fs::exists(folder / name, error)) return model_path(folder / name);
  }
  // An index first: its shards end in .safetensors as well.
  for (const std::string_view suffix : {index_suffix, file_suffix}) {
    auto found = only_entry(folder, suffix);
    if (!found) return found.error();
    if (!found.value().empty()) return model_path(found.value());
  }
  return not_a_model(folder, fmt::format("the folder has no file *{} or *{}", file_suffix, index_suffix));
}

}  // namespace

Result<ModelPath> find_model(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error).lexically_normal();
  if (path.empty() || error)
    return not_a_model(path, "expected the path of a safetensors file, its index, or its folder");
  const fs::file_status status = fs::status(absolute, error);
  if (status.type() == fs::file_type::directory) return find_in_folder(absolute);
  if (status.type() == fs::file_type::not_found) {
    Error missing = not_a_model(absolute, "there is no such file or folder");
    missing.os_errno = ENOENT;
    return missing;
  }
  return model_path(absolute);
}

}  // namespace forklift::weights
