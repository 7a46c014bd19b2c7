#pragma once

/// The kinds of mistakes that the check of a lesson tells apart, and how it says them.

#include <string>

namespace tessera::lessons {

enum class Mistake {
  None,
  DoesNotCompile,
  DoesNotLoad,
  Ended,         ///< crash, exit, exception, time, memory, output
  LaunchRefused, ///< no GPU takes this size of a block or of a grid
  NothingWritten,
  LastRows, ///< not written or wrong
  LastColumns,
  LastRowsAndColumns,
  LaterRows, ///< right in the first tile of rows, wrong in those after it
  LaterColumns,
  SomeRows, ///< every other row, or a part of each tile
  SomeColumns,
  NothingAdded,   ///< the sums are 0
  LastSteps,      ///< the end of k is missing
  FirstSteps,     ///< the beginning of k is missing
  StaleTail,      ///< past the end of k, the tile before is added once more
  DoubledTile,    ///< a tile of k is added twice
  FirstTileAgain, ///< every tile of k has the first steps of an operand
  Alpha,
  Beta,
  ReadsC,     ///< although beta is 0
  TransposeA, ///< A is read as if it were not transposed, or the other way round
  TransposeB,
  TransposedC,
  LeadingDimension,
  NotANumber, ///< from outside an operand, or from memory that nothing was written to
  WritesOutside,
  ReadsOutside,
  ChangesInputs,
  DiffersBetweenRuns, ///< a race
  Race,               ///< with its lines
  Uninitialised,
  BarrierInBranch,
  AsItWas,           ///< factors: an element of the matrix is still there
  OtherTriangle,     ///< factors: an element above the diagonal has changed
  NoRoot,            ///< factors: on the diagonal
  NotDivided,        ///< factors: by the diagonal
  NothingSubtracted, ///< factors: what the columns before contribute
  WrongPivot,
  RowsApart, ///< factors: a part of a row changed places, and a part did not
  Imprecise, ///< right for whole numbers, too far off for others
  Elsewhere, ///< wrong without a pattern
};

/// What is wrong, for a learner.
struct Finding {
  Mistake mistake = Mistake::None;
  std::string what;  ///< one sentence: where it is wrong
  std::string look;  ///< one sentence: where to look in the code; may be empty
  std::string shown; ///< further lines: the compiler's, or what the kernel printed

  bool none() const noexcept { return mistake == Mistake::None; }
};

} // namespace tessera::lessons
