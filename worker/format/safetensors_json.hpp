// The JSON of a safetensors header as a list; the rules about offsets and sizes come after it (safetensors.cpp).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "worker/format/json_events.hpp"
#include "worker/format/safetensors.hpp"

namespace forklift {

class SafetensorsJson final : public JsonEvents {
 public:
  bool on_open(Kind kind) override;
  bool on_close() override;
  bool on_key(std::string& key) override;
  bool on_text(std::string& text) override;
  bool on_count(std::uint64_t value) override;
  bool on_other(std::string_view shown) override;

  /// In the order of the text.
  std::vector<SafetensorsEntry> entries;
  std::map<std::string, std::string> metadata;
  /// Why the reading was ended; empty if it was not, or if the text is no JSON.
  std::string reason;

 private:
  enum class Place { outside, top, tensor, dtype, shape, offsets, metadata, metadata_value };
  enum Seen : unsigned { dtype_seen = 1, shape_seen = 2, offsets_seen = 4, all_seen = 7 };

  bool begin_tensor();
  bool end_tensor();
  bool begin_field(const std::string& key);
  bool begin_metadata();
  bool refuse(std::string why);
  bool unexpected(std::string_view seen);
  std::string subject() const;
  std::string expectation() const;

  Place place_ = Place::outside;
  bool metadata_seen_ = false;
  bool in_list_ = false;  ///< Inside the brackets of shape or data_offsets.
  unsigned seen_ = 0;     ///< Fields of the present tensor.
  std::size_t offsets_ = 0;
  std::string key_;  ///< The name of the present tensor, or the present key of the metadata.
};

}  // namespace forklift
