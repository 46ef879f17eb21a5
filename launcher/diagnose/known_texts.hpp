// Texts of frameworks and systems that are known to mean one thing: data, one row per text, each row a test.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "forklift/diagnosis.hpp"

namespace forklift {

struct KnownText {
  std::array<std::string_view, 2> words;  ///< All must occur; an empty one always does. Never both empty.
  Category category = Category::python_exception;
  Confidence confidence = Confidence::likely;
  std::string_view predicate;  ///< Continues "Rank 2 (pid 4711) "; empty: "raised Type: text" says it best.
  /// What to do; empty ones are left out. {python}, {program}, {module}, {rank} and {world_size} are filled
  /// in.
  std::array<std::string_view, 3> advice;
};

/// Within a list, and from list to list, the first row that matches decides: special texts stand before general ones.
std::span<const KnownText> guide_texts();       ///< known_texts_guides.cpp: snippets of the guides that fail today.
std::span<const KnownText> device_texts();      ///< known_texts_devices.cpp: accelerators and their memory.
std::span<const KnownText> collective_texts();  ///< known_texts_collectives.cpp: replicas that wait for each other.
std::span<const KnownText> system_texts();      ///< known_texts_system.cpp: memory, disks, limits, missing modules.

/// The row that decides about `text`; nullptr if none matches.
const KnownText* find_known_text(std::string_view text);

}  // namespace forklift
