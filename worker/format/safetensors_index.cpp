#include "worker/format/safetensors_index.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "worker/format/json_events.hpp"
#include "worker/format/quoted.hpp"
#include "worker/format/tensor_size.hpp"

namespace forklift {
namespace {

class IndexJson final : public JsonEvents {
 public:
  bool on_open(Kind kind) override {
    ++depth_;
    if (depth_ == 1) return true;
    if (depth_ == 2 && section_ == Section::weight_map) {
      return kind == Kind::object || refuse("weight_map is a list, expected an object {tensor: file}");
    }
    return section_ != Section::weight_map || refuse_value("an object or list");
  }
  bool on_close() override {
    if (--depth_ == 1) section_ = Section::other;
    return true;
  }
  bool on_key(std::string& key) override {
    if (depth_ == 1) return enter(key);
    if (depth_ == 2) key_ = std::move(key);
    return true;
  }
  bool on_text(std::string& text) override {
    if (section_ != Section::weight_map) return true;
    if (depth_ != 2) return refuse("weight_map is " + in_quotes(text) + ", expected an object {tensor: file}");
    const auto file = files.emplace(std::move(text), static_cast<std::uint32_t>(files.size())).first;
    weight_map.emplace_back(std::move(key_), file->second);
    return true;
  }
  bool on_count(std::uint64_t value) override { return on_other(std::to_string(value)); }
  bool on_other(std::string_view shown) override {
    if (section_ == Section::weight_map) return refuse_value(shown);
    if (section_ == Section::metadata && depth_ == 2 && key_ == "total_size") total_size = shown;
    return true;
  }

  std::map<std::string, std::uint32_t> files;  ///< By name; the numbers are in the order of their first mention.
  std::vector<std::pair<std::string, std::uint32_t>> weight_map;
  std::string total_size;
  bool has_weight_map = false;
  std::string reason;

 private:
  enum class Section { other, metadata, weight_map };

  bool enter(const std::string& key) {
    section_ = key == "weight_map" ? Section::weight_map : key == "metadata" ? Section::metadata : Section::other;
    if (section_ != Section::weight_map) return true;
    return !std::exchange(has_weight_map, true) || refuse("weight_map is there twice");
  }
  bool refuse(std::string why) {
    reason = std::move(why);
    return false;
  }
  bool refuse_value(std::string_view seen) {
    if (depth_ < 2) return refuse(fmt::format("weight_map is {}, expected an object {{tensor: file}}", seen));
    return refuse(fmt::format("weight_map: tensor {} is {}, expected the name of a file", in_quotes(key_), seen));
  }

  Section section_ = Section::other;
  int depth_ = 0;
  std::string key_;
};

Error malformed(std::string_view where, std::string_view what) {
  return {ErrorKind::usage, fmt::format("{} is no valid index of safetensors files: {}", in_quotes(where), what)};
}

/// Whether a path stays in the folder of the index: an index from outside must not make us open just any file.
bool stays_inside(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.find('\0') != std::string_view::npos) return false;
  while (!path.empty()) {
    const auto slash = std::min(path.find('/'), path.size());
    if (path.substr(0, slash) == "..") return false;
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return true;
}

/// Numbers files in ascending order, and the map with them.
SafetensorsIndex ordered(IndexJson reader) {
  SafetensorsIndex index;
  std::vector<std::uint32_t> place(reader.files.size());
  for (auto& [file, number] : reader.files) {
    place[number] = static_cast<std::uint32_t>(index.files.size());
    index.files.push_back(file);
  }
  index.weight_map = std::move(reader.weight_map);
  for (auto& [tensor, file] : index.weight_map) file = place[file];
  std::sort(index.weight_map.begin(), index.weight_map.end());
  index.total_size = std::move(reader.total_size);
  return index;
}

/// A tensor and the number of its file.
using Placed = std::pair<std::string_view, std::uint32_t>;

/// The tensors of all headers, ascending by name.
std::vector<Placed> tensors_of(const std::vector<SafetensorsHeader>& headers) {
  std::vector<Placed> found;
  for (std::size_t file = 0; file < headers.size(); ++file) {
    for (const auto& entry : headers[file].tensors) found.emplace_back(entry.name, static_cast<std::uint32_t>(file));
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::uint64_t data_bytes(const std::vector<SafetensorsHeader>& headers) {
  std::uint64_t sum = 0;
  for (const auto& header : headers) sum += header.tensors.empty() ? 0 : header.tensors.back().end;
  return sum;
}

/// Older tools wrote total_size as 13476839424.0.
std::string without_fraction(const std::string& number) {
  const auto point = number.find('.');
  const bool zeros = point != std::string::npos && number.find_first_not_of('0', point + 1) == std::string::npos;
  return zeros ? number.substr(0, point) : number;
}

}  // namespace

Result<SafetensorsIndex> parse_safetensors_index(std::string_view json, std::string_view where) {
  if (auto reason = not_an_object(json); !reason.empty()) return malformed(where, reason);
  IndexJson reader;
  if (!read_json(json, reader)) return malformed(where, reader.reason.empty() ? reader.syntax_error() : reader.reason);
  if (!reader.has_weight_map) return malformed(where, "it has no weight_map");
  if (reader.weight_map.empty()) return malformed(where, "its weight_map names no tensor");
  SafetensorsIndex index = ordered(std::move(reader));
  for (const std::string& file : index.files) {
    if (!stays_inside(file)) {
      return malformed(
          where, fmt::format("weight_map names the file {}; expected one in the folder of the index", in_quotes(file)));
    }
  }
  const auto twice = std::adjacent_find(index.weight_map.begin(), index.weight_map.end(),
                                        [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != index.weight_map.end()) {
    return malformed(where, "weight_map has tensor " + in_quotes(twice->first) + " twice");
  }
  return index;
}

Result<std::optional<std::string>> check_safetensors_index(const SafetensorsIndex& index,
                                                           const std::vector<SafetensorsHeader>& headers,
                                                           std::string_view where) {
  const std::vector<Placed> found = tensors_of(headers);
  auto in_file = found.begin();
  auto in_map = index.weight_map.begin();
  while (in_file != found.end() || in_map != index.weight_map.end()) {
    const auto mapped = [&] { return Placed(in_map->first, in_map->second); };
    if (in_map == index.weight_map.end() || (in_file != found.end() && *in_file < mapped())) {
      return malformed(where, fmt::format("file {} has tensor {}, which weight_map does not place there",
                                          in_quotes(index.files[in_file->second]), in_quotes(in_file->first)));
    }
    if (in_file == found.end() || mapped() < *in_file) {
      return malformed(where, fmt::format("weight_map places tensor {} in file {}, which does not have it",
                                          in_quotes(in_map->first), in_quotes(index.files[in_map->second])));
    }
    ++in_file;
    ++in_map;
  }
  const std::string actual = std::to_string(data_bytes(headers));
  if (index.total_size.empty() || without_fraction(index.total_size) == actual) return std::optional<std::string>();
  return std::optional(fmt::format("{}: total_size is {}, but the files hold {} bytes of tensors", in_quotes(where),
                                   index.total_size, actual));
}

}  // namespace forklift
