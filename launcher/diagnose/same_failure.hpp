// Which other replicas failed as the culprit did: one mistake of the program shows itself in all of them.
#pragma once

#include <optional>
#include <string>

#include "forklift/outcome.hpp"

namespace forklift {

/// The culprit's own words for its failure, to hold those of others against. Numbers in them do not count: a rank, a
/// pid or a step is another one in each replica.
class FailureWords {
 public:
  explicit FailureWords(const Ending& culprit);

  /// True if `other` failed and said the same, also where it was asked to stop meanwhile: words are printed before the
  /// end, and forklift's signal reaches a replica that is falling already. False where nothing was said.
  [[nodiscard]] bool shared_by(const Ending& other) const;

 private:
  Outcome outcome_;
  std::string mark_;       ///< Occurs in every text that says the same: a cheap first look.
  std::string exception_;  ///< "Type: text" without its numbers; empty if Python raised nothing.
  std::string last_line_;  ///< Of stderr, without its numbers; empty if there is none.
};

}  // namespace forklift
