#include "worker/tying/tying_words.hpp"

#include <fmt/format.h>

#include <string_view>

#include "worker/format/byte_text.hpp"

namespace forklift::tying {
namespace {

std::string_view is_or_are(const Names& names) { return names.size() == 1 ? "is" : "are"; }
std::string_view was_or_were(const Names& names) { return names.size() == 1 ? "was" : "were"; }
std::string_view has_or_have(const Names& names) { return names.size() == 1 ? "has" : "have"; }

/// "a; b and c": which names still belong together.
std::string grouped(const std::vector<Names>& parts) {
  std::string text;
  for (const Names& part : parts) text += (text.empty() ? "" : "; ") + listed(part);
  return text;
}

}  // namespace

std::string listed(const Names& names) {
  constexpr std::size_t most = 4;
  const std::size_t shown = names.size() > most ? most - 1 : names.size();
  std::string text;
  for (std::size_t at = 0; at < shown; ++at) {
    const bool last = at + 1 == names.size();
    text += (at == 0 ? "" : last ? " and " : ", ") + names[at];
  }
  return shown == names.size() ? text : fmt::format("{} and {} more", text, names.size() - shown);
}

std::string untied_sentence(const Names& names, const std::vector<Names>& parts, std::uint64_t growth) {
  const std::string which = parts.size() == names.size() ? "" : fmt::format(" ({})", grouped(parts));
  return fmt::format(
      "{} were one tensor and are now {} independent copies{}: each gets a gradient of its own, they drift apart in "
      "training, and the weights take {} more.",
      listed(names), parts.size(), which, format_bytes(growth));
}

std::string untied_on_meta_sentence(const Names& names, const Names& without_data) {
  return fmt::format(
      "{} were one tensor, but {} now {} no data (meta device) and {} no longer tied to the rest: tie the weights "
      "again "
      "before the model runs.",
      listed(names), listed(without_data), has_or_have(without_data), is_or_are(without_data));
}

std::string newly_tied_sentence(const Names& names, std::size_t tensors_before, std::uint64_t saving) {
  return fmt::format(
      "{} were {} independent tensors and are now one: what one of them learns overwrites the others, and the weights "
      "take {} less.",
      listed(names), tensors_before, format_bytes(saving));
}

std::string no_longer_overlapping_sentence(const Names& names) {
  return fmt::format(
      "{} shared a part of their memory and no longer {}do: an update of one no longer reaches the others, and they "
      "drift apart in training.",
      listed(names), names.size() > 2 ? "all " : "");
}

std::string newly_overlapping_sentence(const Names& names) {
  return fmt::format(
      "{} now share a part of their memory without being one tensor: an update of one overwrites a part of the others.",
      listed(names));
}

std::string missing_sentence(const Names& names) {
  return fmt::format("{} {} in the model before and {} gone: what was learned there is not used.", listed(names),
                     was_or_were(names), is_or_are(names));
}

std::string added_sentence(const Names& names) {
  return fmt::format("{} {} not in the model before: {} start from whatever values {} has now.", listed(names),
                     was_or_were(names), names.size() == 1 ? "it will" : "they will",
                     names.size() == 1 ? "it" : "each");
}

std::string resized_sentence(const std::string& name, std::uint64_t before, std::uint64_t after) {
  return fmt::format("{} had {} elements and now has {}: it is not the tensor that was moved or loaded.", name, before,
                     after);
}

std::string lost_data_sentence(const Names& names) {
  return fmt::format("{} had data and now {} none (meta device): the model cannot run before {} loaded.", listed(names),
                     has_or_have(names), names.size() == 1 ? "it is" : "they are");
}

std::string stale_optimizer_sentence(const Names& names, std::size_t unknown_tensors) {
  if (names.empty()) {
    return fmt::format(
        "The optimizer holds {} tensor{} that the model neither had before nor has now: its steps there "
        "train nothing.",
        unknown_tensors, unknown_tensors == 1 ? "" : "s");
  }
  return fmt::format(
      "The optimizer still holds what {} {} before, which the model no longer uses: its steps there train nothing; "
      "make "
      "the optimizer after the move.",
      listed(names), was_or_were(names));
}

std::string not_optimized_sentence(const Names& names, const Names& optimized) {
  return fmt::format("The optimizer trains {} and not {}, which {} tied to it before: {} stays as it is.",
                     listed(optimized), listed(names), was_or_were(names),
                     names.size() == 1 ? "this weight" : "each of them");
}

}  // namespace forklift::tying
