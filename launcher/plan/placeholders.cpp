#include "launcher/plan/placeholders.hpp"

namespace forklift {

std::string port_placeholder(std::string_view name) { return "${port." + std::string(name) + "}"; }

std::string replace_placeholders(std::string_view text, const PlaceholderLookup& lookup) {
  std::string replaced;
  std::size_t position = 0;
  while (position < text.size()) {
    const auto open = text.find("${", position);
    const auto close = open == std::string_view::npos ? open : text.find('}', open);
    if (close == std::string_view::npos) break;
    replaced.append(text.substr(position, open - position));
    if (auto value = lookup(text.substr(open + 2, close - open - 2))) {
      replaced.append(*value);
      position = close + 1;
    } else {  // not ours: only its opening is copied, a placeholder may still begin inside
      replaced.append("${");
      position = open + 2;
    }
  }
  replaced.append(text.substr(position));
  return replaced;
}

}  // namespace forklift
