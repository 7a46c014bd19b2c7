/// A triangle as copies of rectangles: squares of two sizes side by side, whose edges double, and the blocks on the
/// diagonal, of which one copy takes row r of all.

#include "triangle_copy.hpp"

#include <algorithm>

namespace tessera::linear_algebra::device {
namespace {

constexpr Index edge = 64; ///< of a block on the diagonal

class TriangleCopy {
 public:
  TriangleCopy(const Steps& steps, Triangle triangle, Index n, Place x, Place z)
      : steps_(steps), is_lower_(triangle == Triangle::Lower), n_(n), x_(x), z_(z) {}

  void run() const {
    for (Index r = 0; r < std::min(edge, n_); ++r) copy_row(r);
    for (Index width = edge; width < n_; width *= 2)
      for (Index first = 0; first + width < n_; first += 2 * width) {
        const Index second = first + width, height = std::min(width, n_ - second);
        if (is_lower_)
          copy(second, first, height, width, 0);
        else
          copy(first, second, width, height, 0);
      }
  }

 private:
  /// Copies row r of each block on the diagonal; the last block may be smaller.
  void copy_row(Index r) const {
    const Index whole = n_ / edge, begun = (n_ - r + edge - 1) / edge;
    if (is_lower_) return copy(r, 0, begun, r + 1, edge);
    copy(r, r, whole, edge - r, edge);
    if (begun > whole) copy(whole * edge + r, whole * edge + r, 1, n_ - whole * edge - r, 0);
  }
  /// Copies rows×cols elements from (i, j) on; each row begins `shift` columns right of the one before, and as many
  /// rows below it; 0: the next row, in the same column.
  void copy(Index i, Index j, Index rows, Index cols, Index shift) const {
    Place from = x_.at(i, j), to = z_.at(i, j);
    if (shift > 0) {
      from.ld = shift * (x_.ld + 1);
      to.ld = shift * (z_.ld + 1);
    }
    steps_.scale(rows, cols, 1, from, to);
  }

  const Steps& steps_;
  bool is_lower_;
  Index n_;
  Place x_, z_;
};

} // namespace

void copy_triangle(const Steps& steps, Triangle triangle, Index n, Place x, Place z) {
  TriangleCopy(steps, triangle, n, x, z).run();
}

} // namespace tessera::linear_algebra::device
