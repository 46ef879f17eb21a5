#include "worker/format/safetensors.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "worker/format/quoted.hpp"
#include "worker/format/safetensors_json.hpp"
#include "worker/format/tensor_size.hpp"

namespace forklift {
namespace {

Error malformed(std::string_view where, std::string_view what) {
  return {ErrorKind::usage, fmt::format("{} is no valid safetensors file: {}", in_quotes(where), what)};
}

/// What people pass for a safetensors file, by its first bytes; asked only where they are no possible length.
std::string_view other_format(std::string_view first_bytes) {
  struct Format {
    std::string_view beginning;
    std::string_view name;
  };
  constexpr Format known[] = {
      {"version ", "it is a Git LFS pointer, not the file itself: run `git lfs pull`"},
      {"PK\x03\x04", "it is a zip archive, as torch.save writes them: convert it with safetensors.torch.save_model"},
      {"\x80\x02", "it is a Python pickle, as torch.save wrote them: convert it with safetensors.torch.save_model"},
      {"\x89HDF\r\n", "it is an HDF5 file"},
      {"GGUF", "it is a GGUF file"},
      {"<!DOCTYP", "it is a web page: the download failed"},
      {"<html", "it is a web page: the download failed"},
  };
  for (const Format& format : known) {
    if (first_bytes.starts_with(format.beginning)) return format.name;
  }
  return {};
}

// In the order of the format's own check: where a tensor lies, then how large it is.
std::string wrong_with(const SafetensorsEntry& entry, const SafetensorsEntry* previous) {
  const std::uint64_t expected = previous == nullptr ? 0 : previous->end;
  const std::string subject =
      fmt::format("tensor {} with data_offsets [{}, {}]", in_quotes(entry.name), entry.begin, entry.end);
  if (entry.begin != expected && previous == nullptr) {
    return fmt::format("{} is the first, but begins at {} and not at 0", subject, entry.begin);
  }
  if (entry.begin != expected) {
    return fmt::format("{} {} tensor {}, which ends at {}", subject,
                       entry.begin < expected ? "overlaps" : "leaves a hole behind", in_quotes(previous->name),
                       expected);
  }
  if (entry.end < entry.begin) return subject + " ends before it begins";

  const auto size = tensor_bytes(entry.dtype, entry.shape);
  if (const auto* const fault = std::get_if<SizeFault>(&size)) {
    return subject + ": " + describe(*fault, entry.dtype, entry.shape);
  }
  const std::uint64_t bytes = std::get<std::uint64_t>(size);
  if (bytes == entry.end - entry.begin) return {};
  return fmt::format("{} has {} bytes, but {} {} needs {}", subject, entry.end - entry.begin, name_of(entry.dtype),
                     shape_text(entry.shape), bytes);
}

/// The name that is there twice; empty if none is.
const std::string* name_given_twice(const std::vector<SafetensorsEntry>& entries) {
  std::vector<const std::string*> names;
  names.reserve(entries.size());
  for (const SafetensorsEntry& entry : entries) names.push_back(&entry.name);
  // Sorted rather than hashed: a file from outside may be made so that hashes collide.
  std::sort(names.begin(), names.end(), [](const auto* a, const auto* b) { return *a < *b; });
  const auto twice =
      std::adjacent_find(names.begin(), names.end(), [](const auto* a, const auto* b) { return *a == *b; });
  return twice == names.end() ? nullptr : *twice;
}

void order_by_place(std::vector<SafetensorsEntry>& entries) {
  const auto key = [](const SafetensorsEntry& entry) { return std::tie(entry.begin, entry.end, entry.name); };
  const auto before = [&](const auto& a, const auto& b) { return key(a) < key(b); };
  if (!std::is_sorted(entries.begin(), entries.end(), before)) std::sort(entries.begin(), entries.end(), before);
}

std::string wrong_length(std::uint64_t file_length, std::uint64_t data_begin, const SafetensorsEntry* last) {
  const std::uint64_t data = file_length - data_begin;  // Not negative: the header was read from the file.
  const std::uint64_t end = last == nullptr ? 0 : last->end;
  if (data == end) return {};
  const std::string seen =
      fmt::format("the data begin at byte {} of {}, and {} at {} of the data", data_begin, file_length,
                  last == nullptr ? "end, without any tensor," : "tensor " + in_quotes(last->name) + " ends", end);
  if (data > end) return fmt::format("{}: {} bytes behind it belong to no tensor", seen, data - end);
  return fmt::format("{}: {} bytes are missing, the file was cut short or is still being written", seen, end - data);
}

}  // namespace

Result<std::uint64_t> safetensors_header_length(std::string_view first_bytes, std::uint64_t file_length,
                                                std::string_view where) {
  if (file_length < safetensors_length_bytes || first_bytes.size() < safetensors_length_bytes) {
    return malformed(where, fmt::format("it has {} bytes, the length of the header alone needs {}", file_length,
                                        safetensors_length_bytes));
  }
  std::uint64_t length = 0;
  for (std::size_t i = safetensors_length_bytes; i-- > 0;) {
    length = length << 8U | static_cast<std::uint64_t>(static_cast<unsigned char>(first_bytes[i]));
  }
  if (length > longest_safetensors_header) {
    if (const auto other = other_format(first_bytes); !other.empty()) return malformed(where, other);
    return malformed(where, fmt::format("its first 8 bytes give the header {} bytes, at most {} are allowed", length,
                                        longest_safetensors_header));
  }
  if (length > file_length - safetensors_length_bytes) {
    return malformed(where, fmt::format("its first 8 bytes give the header {} bytes, but only {} follow", length,
                                        file_length - safetensors_length_bytes));
  }
  return length;
}

Result<SafetensorsHeader> parse_safetensors_header(std::string_view json, std::uint64_t file_length,
                                                   std::string_view where) {
  if (auto reason = not_an_object(json); !reason.empty()) return malformed(where, "header: " + reason);
  SafetensorsJson reader;
  if (!read_json(json, reader)) {
    return malformed(where, reader.reason.empty() ? "header, " + reader.syntax_error() : reader.reason);
  }
  if (const std::string* twice = name_given_twice(reader.entries)) {
    return malformed(where, "tensor " + in_quotes(*twice) + " is there twice");
  }
  order_by_place(reader.entries);
  const SafetensorsEntry* previous = nullptr;
  for (const SafetensorsEntry& entry : reader.entries) {
    if (auto reason = wrong_with(entry, previous); !reason.empty()) return malformed(where, reason);
    previous = &entry;
  }
  const std::uint64_t data_begin = safetensors_length_bytes + json.size();
  if (data_begin > file_length) return malformed(where, "its header is longer than the file");
  if (auto reason = wrong_length(file_length, data_begin, previous); !reason.empty()) return malformed(where, reason);
  return SafetensorsHeader{data_begin, std::move(reader.entries), std::move(reader.metadata)};
}

}  // namespace forklift
