// The transient last lines of a terminal: one row for each replica's stream that shows progress. Pure: it makes the
// control sequences, somebody else writes them.
//
// Rows are never wrapped (autowrap is off while one is drawn), so that a row is a row whatever the width of the
// terminal or of a character. Of a row's text only printable bytes and colours are drawn.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "forklift/ids.hpp"
#include "launcher/output/output_stream.hpp"

namespace forklift {

class LiveArea {
 public:
  using Key = std::pair<Rank, OutputStream>;

  /// Sets a row's text; an empty one removes the row. Returns whether that changed anything.
  bool set(const Key& key, std::string text);

  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] bool drawn() const { return drawn_rows_ > 0; }

  /// What removes the drawn rows from the terminal and leaves the cursor where the first one began; empty if none is
  /// drawn. From now on they count as removed.
  std::string erase();

  /// What replaces the drawn rows by the present ones. Of more than `max_rows` (≥ 1) the last row says how many are
  /// left out.
  std::string redraw(std::size_t max_rows);

 private:
  std::map<Key, std::string> rows_;
  std::size_t drawn_rows_ = 0;
};

}  // namespace forklift
