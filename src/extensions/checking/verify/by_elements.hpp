#pragma once

/// Looks at elements of a verified product one by one, beside a reference in twice the precision. It is slow: it serves
/// rows and columns that sums cannot judge, and names the elements that are wrong.

#include <span>
#include <vector>

#include <tessera/backend/kernel.hpp>
#include <tessera/checking/compare.hpp>

namespace tessera::verify {

/// A wrong element. Its place is in C.
struct WrongElement {
  Index row = -1;
  Index col = -1;
  double computed = 0, exact = 0, bound = 0;
};

/// The parts of C that were looked at and are wrong, and some of their elements, the worst first.
struct Findings {
  std::vector<Index> places; ///< first rows, or columns, of chunks with a wrong element, and their lengths in `counts`
  std::vector<Index> counts;
  std::vector<WrongElement> worst;
  bool any() const { return !places.empty(); }
};

/// Compares the listed rows of C. The call's C is what was computed; `before` has C as it was, with `ld_before`, if
/// beta ≠ 0. A place is the index in `rows` of the first row of a chunk of `together` rows.
Findings look_at_rows(const GemmCall& call, const void* before, Index ld_before, std::span<const Index> rows,
                      const Arithmetic& arithmetic, Index together);

/// Compares the listed columns of C in the same way; a place is a column.
Findings look_at_columns(const GemmCall& call, const void* before, Index ld_before, std::span<const Index> columns,
                         const Arithmetic& arithmetic);

} // namespace tessera::verify
