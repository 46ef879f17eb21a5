#include "worker/format/safetensors_json.hpp"

#include <fmt/core.h>

#include <utility>

#include "worker/format/quoted.hpp"

namespace forklift {

bool SafetensorsJson::refuse(std::string why) {
  reason = std::move(why);
  return false;
}

std::string SafetensorsJson::subject() const {
  switch (place_) {
    case Place::outside:
    case Place::top:
      return key_.empty() ? "the header" : "the entry " + in_quotes(key_);
    case Place::tensor:
      return "tensor " + in_quotes(key_);
    case Place::dtype:
      return "tensor " + in_quotes(key_) + ": dtype";
    case Place::shape:
      return "tensor " + in_quotes(key_) + ": shape";
    case Place::offsets:
      return "tensor " + in_quotes(key_) + ": data_offsets";
    case Place::metadata:
      return "__metadata__";
    case Place::metadata_value:
      return "__metadata__, " + in_quotes(key_);
  }
  return {};
}

std::string SafetensorsJson::expectation() const {
  switch (place_) {
    case Place::outside:
    case Place::top:
    case Place::tensor:
      return "an object";
    case Place::dtype:
      return "a type in quotes";
    case Place::shape:
      return "a list of whole numbers from 0 to 2^64 - 1";
    case Place::offsets:
      return "two whole numbers from 0 to 2^64 - 1";
    case Place::metadata:
    case Place::metadata_value:
      return "a text in quotes";
  }
  return {};
}

bool SafetensorsJson::unexpected(std::string_view seen) {
  return refuse(fmt::format("{} is {}, expected {}", subject(), seen, expectation()));
}

bool SafetensorsJson::on_open(Kind kind) {
  if (kind == Kind::object) {
    switch (place_) {
      case Place::outside:
        place_ = Place::top;
        return true;
      case Place::top:
        return key_ == "__metadata__" ? begin_metadata() : begin_tensor();
      default:
        return unexpected("an object");
    }
  }
  if ((place_ != Place::shape && place_ != Place::offsets) || in_list_) return unexpected("a list");
  in_list_ = true;
  return true;
}

bool SafetensorsJson::begin_metadata() {
  if (std::exchange(metadata_seen_, true)) return refuse("__metadata__ is there twice");
  place_ = Place::metadata;
  return true;
}

bool SafetensorsJson::begin_tensor() {
  entries.emplace_back().name = key_;
  place_ = Place::tensor;
  seen_ = 0;
  offsets_ = 0;
  return true;
}

bool SafetensorsJson::on_close() {
  switch (place_) {
    case Place::tensor:
      return end_tensor();
    case Place::metadata:
      place_ = Place::top;
      key_.clear();
      return true;
    case Place::offsets:
      if (offsets_ != 2) return refuse(fmt::format("{} has {} numbers, expected 2", subject(), offsets_));
      [[fallthrough]];
    case Place::shape:
      in_list_ = false;
      place_ = Place::tensor;
      return true;
    default:
      return true;  // The end of the header: what follows, if anything, is a syntax error.
  }
}

bool SafetensorsJson::end_tensor() {
  if (seen_ != all_seen) {
    const char* const missing = (seen_ & dtype_seen) == 0   ? "dtype"
                                : (seen_ & shape_seen) == 0 ? "shape"
                                                            : "data_offsets";
    return refuse(fmt::format("{} has no {}", subject(), missing));
  }
  place_ = Place::top;
  key_.clear();
  return true;
}

bool SafetensorsJson::on_key(std::string& key) {
  switch (place_) {
    case Place::tensor:
      return begin_field(key);
    case Place::metadata:
      key_ = std::move(key);
      if (metadata.contains(key_)) return refuse("__metadata__ has the key " + in_quotes(key_) + " twice");
      place_ = Place::metadata_value;
      return true;
    default:
      key_ = std::move(key);
      return true;
  }
}

bool SafetensorsJson::begin_field(const std::string& key) {
  Seen field{};
  if (key == "dtype") {
    field = dtype_seen;
    place_ = Place::dtype;
  } else if (key == "shape") {
    field = shape_seen;
    place_ = Place::shape;
  } else if (key == "data_offsets") {
    field = offsets_seen;
    place_ = Place::offsets;
  } else {
    return refuse(fmt::format("{} has the field {}, which the format does not know", subject(), in_quotes(key)));
  }
  if ((seen_ & field) != 0) {
    place_ = Place::tensor;
    return refuse(fmt::format("{} has its {} twice", subject(), key));
  }
  seen_ |= field;
  return true;
}

bool SafetensorsJson::on_text(std::string& text) {
  if (place_ == Place::metadata_value) {
    metadata.emplace(std::move(key_), std::move(text));
    place_ = Place::metadata;
    return true;
  }
  if (place_ != Place::dtype) return unexpected(in_quotes(text));
  const auto dtype = dtype_named(text);
  if (!dtype) return refuse(fmt::format("{} is {}, which is none of the format's 22", subject(), in_quotes(text)));
  entries.back().dtype = *dtype;
  place_ = Place::tensor;
  return true;
}

bool SafetensorsJson::on_count(std::uint64_t value) {
  if (!in_list_) return unexpected(std::to_string(value));
  SafetensorsEntry& entry = entries.back();
  if (place_ == Place::shape) {
    entry.shape.push_back(value);
    return true;
  }
  (offsets_ == 0 ? entry.begin : entry.end) = value;
  ++offsets_;
  return true;
}

bool SafetensorsJson::on_other(std::string_view shown) { return unexpected(in_quotes(shown)); }

}  // namespace forklift
