#include "launcher/request/parse_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "launcher/request/format_option.hpp"
#include "launcher/request/option_text.hpp"
#include "launcher/request/value_text.hpp"

namespace forklift {
namespace {

constexpr std::array<std::string_view, 5> options{"model", "bytes", "dtype", "num-processes", "host-facts"};

using Given = std::map<std::string, std::string, std::less<>>;

/// "--num_processes" → "num-processes"; empty if it is not an option.
std::string option_name(std::string_view word) {
  if (!word.starts_with("--")) return {};
  std::string name(word.substr(2));
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

/// "--name VALUE" and "--name=VALUE"; the last of several counts.
Result<Given> read_words(const std::vector<std::string>& words) {
  Given given;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const auto equals = word.find('=');
    const std::string name = option_name(word.substr(0, equals));
    if (std::find(options.begin(), options.end(), name) == options.end()) {
      return usage_error(fmt::format("estimate: got {}, expected an option of forklift estimate --help", quoted(word)));
    }
    if (equals != std::string_view::npos) {
      given[name] = word.substr(equals + 1);
    } else if (i + 1 < words.size()) {
      given[name] = words[++i];
    } else {
      return usage_error(fmt::format("estimate: --{} needs a value", name));
    }
  }
  return given;
}

Error bad_value(std::string_view name, std::string_view value, std::string_view expected) {
  return usage_error(fmt::format("estimate: --{}: got {}, expected {}", name, quoted(value), expected));
}

Result<void> read_size(const Given& given, EstimateRequest& request) {
  const auto model = given.find("model");
  const auto bytes = given.find("bytes");
  const auto dtype = given.find("dtype");
  if ((model == given.end()) == (bytes == given.end())) {
    return usage_error("estimate: expected either --model PATH or --bytes N");
  }
  if (model != given.end()) {
    if (model->second.empty()) return bad_value("model", model->second, "the path of a model");
    if (dtype != given.end()) return usage_error("estimate: --dtype goes with --bytes, a file says it itself");
    request.model_path = model->second;
    return {};
  }
  request.bytes = parse_bytes(bytes->second);
  if (!request.bytes || *request.bytes == 0) {
    return bad_value("bytes", bytes->second, "a size above 0, as 13476831232, 440M or 12.5G (steps of 1024)");
  }
  if (dtype == given.end()) return {};
  request.dtype = dtype->second;
  if (request.dtype != "float32" && request.dtype != "float16" && request.dtype != "bfloat16") {
    return bad_value("dtype", request.dtype, "float32, float16 or bfloat16");
  }
  return {};
}

Result<void> read_rest(const Given& given, EstimateRequest& request) {
  const auto processes = given.find("num-processes");
  if (processes == given.end()) return usage_error("estimate: --num-processes is missing, expected --num-processes N");
  const auto count = parse_number(processes->second, {1, 1'000'000});
  if (!count) return bad_value("num-processes", processes->second, "a whole number from 1 to 1000000");
  request.processes = *count;
  if (const auto file = given.find("host-facts"); file != given.end()) {
    if (file->second.empty()) return bad_value("host-facts", "", "a file made by forklift env --format json");
    request.host_facts_file = file->second;
  }
  return {};
}

}  // namespace

Result<EstimateRequest> parse_estimate(const std::vector<std::string>& words) {
  const auto taken = take_format("estimate", words);
  if (!taken) return taken.error();
  const auto given = read_words(taken.value().rest);
  if (!given) return given.error();
  EstimateRequest request;
  request.format = taken.value().format;
  if (const auto size = read_size(given.value(), request); !size) return size.error();
  if (const auto rest = read_rest(given.value(), request); !rest) return rest.error();
  return request;
}

}  // namespace forklift
