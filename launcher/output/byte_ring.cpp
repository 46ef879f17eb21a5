#include "launcher/output/byte_ring.hpp"

#include <algorithm>

namespace forklift {

void ByteRing::append(std::string_view bytes) {
  if (bytes.size() > limit_) bytes.remove_prefix(bytes.size() - limit_);
  const std::size_t grown = std::min(bytes.size(), limit_ - bytes_.size());
  if (bytes_.capacity() < bytes_.size() + grown) {
    bytes_.reserve(std::min(limit_, std::max(bytes_.size() + grown, 2 * bytes_.capacity())));
  }
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.begin() + grown);
  bytes.remove_prefix(grown);
  while (!bytes.empty()) {
    const std::size_t taken = std::min(bytes.size(), limit_ - oldest_);
    bytes.copy(bytes_.data() + oldest_, taken);
    bytes.remove_prefix(taken);
    oldest_ = (oldest_ + taken) % limit_;
  }
}

std::string ByteRing::last(std::size_t count) const {
  count = std::min(count, bytes_.size());
  if (count == 0) return {};
  const std::string_view all(bytes_.data(), bytes_.size());
  const std::size_t begin = (oldest_ + bytes_.size() - count) % bytes_.size();
  std::string text;
  text.reserve(count);
  text.append(all.substr(begin, count));
  return text.append(all.substr(0, count - text.size()));
}

}  // namespace forklift
