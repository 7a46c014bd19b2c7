#include <array>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "explains.hpp"
#include "explanations.hpp"

namespace tessera::lessons {
namespace {

/// An element of op(A) or op(B) by its row and column.
using Element = std::function<double(Index row, Index col)>;

bool explained_by(const Observation& seen, const Element& a, const Element& b) {
  return explains(seen, [&](Index i, Index j) {
    double sum = 0;
    for (Index p = 0; p < seen.tried.shape.k; ++p) sum += a(i, p) * b(p, j);
    return seen.scaled(i, j, sum);
  });
}

/// The operands as they are, and 0 where a tile reaches over an edge.
struct Padded {
  const Observation& seen;

  double a(Index i, Index p) const { return i < seen.tried.shape.m && p < seen.tried.shape.k ? seen.a_at(i, p) : 0; }
  double b(Index p, Index j) const { return p < seen.tried.shape.k && j < seen.tried.shape.n ? seen.b_at(p, j) : 0; }
};

/// A tile of A or B that is always the first one along k: the index lacks the tile's first step.
std::optional<Finding> first_tile_again(const Observation& seen, const Padded& x) {
  const Element a = [&](Index i, Index p) { return x.a(i, p); }, b = [&](Index p, Index j) { return x.b(p, j); };
  for (Index tile = 1; tile < seen.tried.shape.k; ++tile)
    for (const bool of_a : {true, false}) {
      const bool is_it = of_a ? explained_by(
                                    seen, [&](Index i, Index p) { return x.a(i, p % tile); }, b)
                              : explained_by(seen, a, [&](Index p, Index j) { return x.b(p % tile, j); });
      if (is_it)
        return found(Mistake::FirstTileAgain,
                     tile == 1 ? fmt::format("every step of k reads {} at step 0", of_a ? "A" : "B")
                               : fmt::format("each tile of {} steps has the first {} steps of {} again", tile, tile,
                                             of_a ? "A" : "B"),
                     fmt::format("Look at what reads {}: the first step of the tile has to be added to the step within "
                                 "the tile.",
                                 of_a ? "A" : "B"));
    }
  return std::nullopt;
}

/// A tile of t×t whose row and column are exchanged where it is filled or where it is read.
std::optional<Finding> tile_exchanged(const Observation& seen, const Padded& x) {
  const Element a = [&](Index i, Index p) { return x.a(i, p); }, b = [&](Index p, Index j) { return x.b(p, j); };
  for (const Index t : {4, 8, 16, 32, 64}) {
    const auto row = [&](Index r, Index c) { return r / t * t + c % t; };
    const auto col = [&](Index r, Index c) { return c / t * t + r % t; };
    for (const bool of_a : {true, false}) {
      const bool is_it = of_a ? explained_by(
                                    seen, [&](Index i, Index p) { return x.a(row(i, p), col(i, p)); }, b)
                              : explained_by(seen, a, [&](Index p, Index j) { return x.b(row(p, j), col(p, j)); });
      if (is_it)
        return found(
            of_a ? Mistake::TransposeA : Mistake::TransposeB,
            fmt::format("rows and columns are exchanged within each tile of {0}×{0} of {1}", t, of_a ? "A" : "B"),
            fmt::format("Look at the two places that name the tile of {}: the one that fills it and the one "
                        "that reads it have to agree on which index is the row.",
                        of_a ? "A" : "B"));
    }
  }
  return std::nullopt;
}

/// A packed strip of w columns of B, or rows of A, of which element (p, q) is at p·w + q, read at q·k + p.
std::optional<Finding> strip_exchanged(const Observation& seen, const Padded& x) {
  const Index k = seen.tried.shape.k;
  const Element a = [&](Index i, Index p) { return x.a(i, p); }, b = [&](Index p, Index j) { return x.b(p, j); };
  for (const Index w : {2, 4, 8, 16}) {
    const auto place = [&](Index p, Index line) { return line % w * k + p; };
    const bool of_b =
        explained_by(seen, a, [&](Index p, Index j) { return x.b(place(p, j) / w, j / w * w + place(p, j) % w); });
    const bool of_a =
        !of_b && explained_by(
                     seen, [&](Index i, Index p) { return x.a(i / w * w + place(p, i) % w, place(p, i) / w); }, b);
    if (of_a || of_b)
      return found(of_a ? Mistake::TransposeA : Mistake::TransposeB,
                   fmt::format("a strip of {} {} is read along the wrong index: at q·k + p", w,
                               of_a ? "rows of A" : "columns of B"),
                   fmt::format("In a packed strip, element q of step p is at p·{0} + q: the {0} elements of a step are "
                               "neighbours.",
                               w));
  }
  return std::nullopt;
}

} // namespace

std::optional<Finding> explained_by_tiles(const Observation& seen) {
  const Padded x{seen};
  if (auto finding = first_tile_again(seen, x)) return finding;
  if (auto finding = tile_exchanged(seen, x)) return finding;
  return strip_exchanged(seen, x);
}

} // namespace tessera::lessons
