#include "explanations.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "explains.hpp"

namespace tessera::lessons {
namespace {

std::optional<Finding> scaling(const Observation& seen) {
  const Case& tried = seen.tried;
  const double alpha = tried.alpha, beta = tried.beta;
  const auto sum = [&](Index i, Index j) { return seen.sum(i, j, 0, tried.shape.k); };
  const auto old = [&](Index i, Index j) { return beta == 0 ? 0.0 : seen.c_before.at(i, j); };
  if (alpha != 1 && explains(seen, [&](Index i, Index j) { return sum(i, j) + beta * old(i, j); }))
    return found(Mistake::Alpha, fmt::format("alpha ({:g}) is missing: C is A·B + beta·C", alpha),
                 "Look where the sum is stored: it has to be multiplied by alpha.");
  if (beta != 0) {
    if (explains(seen, [&](Index i, Index j) { return alpha * sum(i, j); }))
      return found(Mistake::Beta, fmt::format("beta ({:g}) is missing: the old C is lost, and C is alpha·A·B", beta),
                   "Look where the sum is stored: beta times the old element has to be added.");
    if (explains(seen, [&](Index i, Index j) { return alpha * sum(i, j) + old(i, j); }))
      return found(Mistake::Beta, fmt::format("beta ({:g}) counts as 1: C is alpha·A·B + C", beta),
                   "Look where the sum is stored: the old element has to be multiplied by beta.");
    if (explains(seen, [&](Index i, Index j) { return alpha * (sum(i, j) + beta * old(i, j)); }) ||
        explains(seen, [&](Index i, Index j) { return alpha * (sum(i, j) + old(i, j)); }))
      return found(Mistake::Alpha, "alpha multiplies the old C too: C is alpha·(A·B + …)",
                   "Look where the sum is stored: alpha belongs to the sum alone.");
    if (explains(seen, [&](Index i, Index j) { return beta * (sum(i, j) + old(i, j)); }) ||
        explains(seen, [&](Index i, Index j) { return beta * sum(i, j) + alpha * old(i, j); }))
      return found(Mistake::Beta, "alpha and beta are exchanged", "Look where the sum is stored.");
    // C holds the growing sum, and is multiplied by beta when nothing of the old one is left.
    if (explains(seen, [&](Index i, Index j) { return (alpha + beta) * sum(i, j); }))
      return found(Mistake::Beta, "beta multiplies the new sum, because the old C is overwritten before it is used",
                   "Keep the sum in a local variable until it is complete, or the old element.");
  }
  if (explains(seen, [&](Index i, Index j) { return alpha * alpha * sum(i, j) + beta * old(i, j); }))
    return found(Mistake::Alpha, "alpha is applied twice", "Look at each place that names alpha.");
  return std::nullopt;
}

/// Elements of op(A) or op(B) that are read by other steps than the right ones.
struct Reading {
  bool transposed;
  Index ld;
};

double read(const Stored& x, const Reading& how, Index row, Index col) {
  return how.transposed ? x.at(col * how.ld + row) : x.at(row * how.ld + col);
}

template <class A, class B>
double product(const Observation& seen, Index i, Index j, A a, B b) {
  double sum = 0;
  for (Index p = 0; p < seen.tried.shape.k; ++p) sum += a(i, p) * b(p, j);
  return seen.scaled(i, j, sum);
}

std::optional<Finding> reading(const Observation& seen, bool of_a) {
  const Case& tried = seen.tried;
  const Stored& x = of_a ? seen.a : seen.b;
  const bool transposed = (of_a ? tried.op_a : tried.op_b) == Op::Transpose;
  const char* name = of_a ? "A" : "B";
  const auto with = [&](const Reading& how) {
    return explains(seen, [&](Index i, Index j) {
      if (of_a)
        return product(
            seen, i, j, [&](Index r, Index p) { return read(x, how, r, p); },
            [&](Index p, Index c) { return seen.b_at(p, c); });
      return product(
          seen, i, j, [&](Index r, Index p) { return seen.a_at(r, p); },
          [&](Index p, Index c) { return read(x, how, p, c); });
    });
  };
  const Mistake mistake = of_a ? Mistake::TransposeA : Mistake::TransposeB;
  if (with({!transposed, x.ld}))
    return transposed
               ? found(mistake, fmt::format("{} is stored transposed here, and is read as if it were not", name),
                       fmt::format("Read {} through {}(row, column), whose steps know how it is stored.", name,
                                   of_a ? "a" : "b"))
               : found(
                     mistake, fmt::format("the indices of {} are exchanged: it is read as if it were transposed", name),
                     fmt::format("Look at each place that reads {}: which index is the row, which the column?", name));
  const Index row_length =
      of_a ? (transposed ? tried.shape.m : tried.shape.k) : (transposed ? tried.shape.k : tried.shape.n);
  const Index other_length =
      of_a ? (transposed ? tried.shape.k : tried.shape.m) : (transposed ? tried.shape.n : tried.shape.k);
  const Index other_ld = of_a ? seen.b.ld : seen.a.ld;
  for (const auto& [ld, what] : {std::pair{other_ld, "the leading dimension of the other operand"},
                                 {seen.c_before.ld, "the leading dimension of C"},
                                 {row_length, "the length of a row"},
                                 {other_length, "the number of rows"}})
    if (ld != x.ld && with({transposed, ld}))
      return found(Mistake::LeadingDimension,
                   fmt::format("{} is read with a wrong leading dimension: {} ({}) in place of ld{} ({})", name, what,
                               ld, of_a ? "a" : "b", x.ld),
                   fmt::format("Row i of {} begins at i·ld{}, not at i times {}.", name, of_a ? "a" : "b", what));
  return std::nullopt;
}

} // namespace

std::optional<Finding> explained_by_reading(const Observation& seen) {
  const Case& tried = seen.tried;
  if (auto scaled = scaling(seen)) return scaled;
  for (const bool of_a : {true, false})
    if (auto read = reading(seen, of_a)) return read;
  if (tried.shape.m == tried.shape.n &&
      explains(seen, [&](Index i, Index j) { return seen.scaled(j, i, seen.sum(j, i, 0, tried.shape.k)); }))
    return found(Mistake::TransposedC, "C is transposed: element (i, j) stands at (j, i)",
                 "Look where C is stored, and at which of the two loops counts rows.");
  for (const Index shift : {-1, 1})
    for (const bool rows : {true, false}) {
      const auto shifted = [&](Index i, Index j) {
        const Index r = rows ? i + shift : i, c = rows ? j : j + shift;
        const bool inside = r >= 0 && r < tried.shape.m && c >= 0 && c < tried.shape.n;
        return inside ? seen.scaled(i, j, seen.sum(r, c, 0, tried.shape.k)) : seen.got(i, j);
      };
      if (tried.shape.m > 2 && tried.shape.n > 2 && explains(seen, shifted))
        return found(Mistake::Elsewhere, fmt::format("C is shifted by one {}", rows ? "row" : "column"),
                     "Look at the first index of the loops, and where C is stored.");
    }
  return std::nullopt;
}

std::optional<Finding> explained_by_steps(const Observation& seen) {
  const Index k = seen.tried.shape.k;
  const auto steps = [](Index count) { return count == 1 ? std::string("step") : fmt::format("{} steps", count); };
  const auto is = [](Index count) { return count == 1 ? "is" : "are"; };
  // Is C what comes of the sum over all of k with so much more of the steps [first, last)?
  const auto with = [&](double times, Index first, Index last) {
    return explains_wrong_ones(seen, [&](Index i, Index j) {
      return seen.scaled(i, j, seen.sum(i, j, 0, k) + times * seen.sum(i, j, first, last));
    });
  };
  if (with(-1, 0, k))
    return found(Mistake::NothingAdded, "the sums are 0: nothing is added",
                 "Look at what the loop over k adds to, and whether these sums are the ones that are stored.");
  for (Index last = k - 1; last >= 1; --last)
    if (with(-1, last, k))
      return found(Mistake::LastSteps,
                   fmt::format("the last {} of k {} missing: the sums end after step {}", steps(k - last), is(k - last),
                               last - 1),
                   "Look at the loop over k: its last, shorter tile has to be added as well.");
  for (Index first = 1; first < k; ++first)
    if (with(-1, 0, first))
      return found(Mistake::FirstSteps, fmt::format("the first {} of k {} missing", steps(first), is(first)),
                   "Look at what fills the first tile, at where the sums are set to zero, and whether the sums of a "
                   "later tile are stored over those of the first.");
  constexpr std::array<Index, 7> tiles{2, 3, 4, 8, 16, 32, 64};
  for (const Index tile : tiles) {
    const Index end = (k + tile - 1) / tile * tile;
    // What stood in the tile's places beyond k came from the tile before.
    if (end > k && k >= tile && with(1, k - tile, end - tile))
      return found(Mistake::StaleTail,
                   fmt::format("past the end of k the tile still holds what the tile before left there: {} too many {} "
                               "added (tiles of {})",
                               end - k == 1 ? "1 step" : steps(end - k), is(end - k), tile),
                   "Where the last tile of k is shorter, fill the rest with zeros, or end the inner loop at k.");
  }
  for (const Index tile : tiles)
    for (Index first = 0; first < k; first += tile) {
      const Index last = std::min(k, first + tile);
      if (with(1, first, last))
        return found(Mistake::DoubledTile, fmt::format("steps {} to {} of k are added twice", first, last - 1),
                     last == k ? "Look at what follows the loop over k: its last tile is added again."
                               : "Look at the step of the loop over k, and at which buffer it reads.");
      if (with(-1, first, last))
        return found(Mistake::LastSteps, fmt::format("steps {} to {} of k are missing", first, last - 1),
                     "Look at the step of the loop over k, and at which buffer it reads.");
    }
  // A tile of k is added twice, and its neighbour is not.
  const auto in_place_of = [&](Index added, Index missing, Index count) {
    return explains_wrong_ones(seen, [&](Index i, Index j) {
      return seen.scaled(
          i, j, seen.sum(i, j, 0, k) + seen.sum(i, j, added, added + count) - seen.sum(i, j, missing, missing + count));
    });
  };
  for (const Index tile : tiles)
    for (Index first = 0; first + 2 * tile <= k; first += tile)
      for (const auto& [added, missing] : {std::pair{first, first + tile}, {first + tile, first}})
        if (in_place_of(added, missing, tile))
          return found(Mistake::DoubledTile,
                       fmt::format("steps {} to {} of k are added in place of steps {} to {}", added, added + tile - 1,
                                   missing, missing + tile - 1),
                       "Look at which tile is filled and which is read in each round of the loop over k.");
  return std::nullopt;
}

} // namespace tessera::lessons
