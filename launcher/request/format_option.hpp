// `--format text|json`, as the verbs read it that have few options beside it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "forklift/request.hpp"
#include "forklift/result.hpp"

namespace forklift {

/// The words of a verb, with `--format` taken out.
struct FormatWords {
  OutputFormat format = OutputFormat::text;
  std::vector<std::string> rest;
};

/// Takes every `--format FORM` and `--format=FORM` out of `words`; the last one counts. Error (usage), which names the
/// verb: another FORM than text or json, or none.
Result<FormatWords> take_format(std::string_view verb, const std::vector<std::string>& words);

}  // namespace forklift
