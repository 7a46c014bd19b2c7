#pragma once

/// Lays out tables of text for a terminal: which columns fit, and how their cells are aligned.

#include <string>
#include <vector>

namespace tessera::compare_app {

struct TextColumn {
  std::vector<std::string> cells; ///< the first one is the heading
  bool right = false;             ///< the cells are aligned to the right
  int priority = 0;               ///< 0: stays whatever the width; the others fit in from 1 on
  std::size_t least = 0;          ///< columns of the terminal that it takes even if its cells are shorter

  std::size_t width() const;
};

/// Spaces between two columns.
inline constexpr std::size_t column_gap = 2;

/// Returns the indices of the columns that fit into `width`, ascending: the columns of priority 0, and of the others as
/// many as there is room for, in ascending order of their priority. A width of 0 is no limit.
std::vector<std::size_t> fitting(const std::vector<TextColumn>& columns, std::size_t width);

/// Returns the width of a table with these columns.
std::size_t width_of(const std::vector<TextColumn>& columns);

/// Returns one line for each row of cells, padded to the columns' widths. The last column is not padded on its right.
std::vector<std::string> lines_of(const std::vector<TextColumn>& columns);

/// Returns a bar of a share, from 0 to 1, of `width` columns: of eighths of a block, or of # where `blocks` is false. A
/// share above 0 shows.
std::string bar(double share, std::size_t width, bool blocks);

} // namespace tessera::compare_app
