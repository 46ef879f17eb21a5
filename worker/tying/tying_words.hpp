// The sentences of a TyingReport. Each says what was, what is, and what it does to training.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace forklift::tying {

using Names = std::vector<std::string>;

/// "a", "a and b", "a, b and c"; of more than four the first three "and N more".
std::string listed(const Names& names);

/// `parts` are the tensors that `names` stand for now, those without data apart in `without_data`. `growth` is what
/// the copies take beside the first.
std::string untied_sentence(const Names& names, const std::vector<Names>& parts, std::uint64_t growth);
std::string untied_on_meta_sentence(const Names& names, const Names& without_data);
std::string newly_tied_sentence(const Names& names, std::size_t tensors_before, std::uint64_t saving);
std::string no_longer_overlapping_sentence(const Names& names);
std::string newly_overlapping_sentence(const Names& names);
std::string missing_sentence(const Names& names);
std::string added_sentence(const Names& names);
std::string resized_sentence(const std::string& name, std::uint64_t before, std::uint64_t after);
std::string lost_data_sentence(const Names& names);
std::string stale_optimizer_sentence(const Names& names, std::size_t unknown_tensors);
std::string not_optimized_sentence(const Names& names, const Names& optimized);

}  // namespace forklift::tying
