// Where output goes and what it looks like.
#include <algorithm>
#include <array>

#include "launcher/request/fill_request.hpp"
#include "launcher/request/option_reader.hpp"

namespace forklift {
namespace {

constexpr std::array<Word<Colour>, 3> colour_words{
    {{"auto", Colour::automatic}, {"always", Colour::always}, {"never", Colour::never}}};

constexpr std::string_view mask_form = "0, 1, 2 or 3, or a map from local rank, as 0:3,12:2";

std::optional<Rank> parse_rank(std::string_view text) {
  const std::optional<int> number = parse_number(text, {0, 999'999});
  return number ? std::optional(Rank{*number}) : std::nullopt;
}

// An empty template is a value: it turns the prefix off.
std::optional<std::string> parse_template(std::string_view text) { return std::string(text); }

// Every replica has a folder of its own in the run directory; a name of a replica in its path would be made as it
// stands.
std::optional<std::string> parse_log_dir(std::string_view text) {
  constexpr std::array placeholders{"{rank}", "{local_rank}", "{attempt}", "${"};
  const bool names_replica = std::ranges::any_of(
      placeholders, [&](std::string_view name) { return text.find(name) != std::string_view::npos; });
  return text.empty() || names_replica ? std::nullopt : std::optional(std::string(text));
}

}  // namespace

Result<void> fill_output(const GivenOptions& given, LaunchRequest& request) {
  OptionReader reader(given);
  reader.read("log-dir", request.log_dir, parse_log_dir,
              "a directory for the whole job; in it every replica has a folder of its own");
  reader.read("redirects", request.redirects, parse_stream_mask, mask_form);
  reader.read("tee", request.tee, parse_stream_mask, mask_form);
  reader.read("local-ranks-filter", request.console_ranks, parse_local_ranks, "local ranks between commas, as 0,3");
  reader.read("log-line-prefix-template", request.prefix_template, parse_template, "a template");
  reader.word("color", colour_words, request.colour);
  reader.read("interactive-rank", request.interactive_rank, parse_rank, "a rank from 0 to 999999");
  reader.when_given("quiet", request.chatter, Chatter::quiet);
  return reader.result();
}

}  // namespace forklift
