// Names and values from outside in one-line sentences.
#pragma once

#include <string>
#include <string_view>

namespace forklift {

/// 'text', with control characters, quotes and bytes that are no UTF-8 as \xNN, cut after about 100 bytes.
std::string in_quotes(std::string_view text);

}  // namespace forklift
