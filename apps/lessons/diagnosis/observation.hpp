#pragma once

/// One call of a kernel on small whole numbers, with everything that the diagnosis looks at.

#include <string>
#include <vector>

#include <tessera/backend/kernel.hpp>

namespace tessera::lessons {

/// A product that a lesson is tried on.
struct Case {
  const char* subject; ///< what is new in it, e.g. "rows that no tile divides"
  GemmShape shape;
  Index pad = 0; ///< elements by which rows lie further apart than they are long
  Op op_a = Op::None, op_b = Op::None;
  double alpha = 1, beta = 0;
  DType type = DType::F32;
};

/// A matrix as it is stored, with NaN in its padding.
struct Stored {
  std::vector<double> data;
  Index ld = 0;

  /// Returns an element, or NaN beyond the last one.
  double at(Index row, Index col) const { return at(row * ld + col); }
  double at(Index place) const;
};

enum class Written : char { No, Number, NotANumber };

struct Observation {
  Case tried;
  Stored a, b;           ///< as stored, that is transposed where the case says so
  Stored c_before;       ///< NaN where beta is 0
  std::vector<double> c; ///< m·n, without padding
  std::vector<Written> written;

  double a_at(Index i, Index p) const { return tried.op_a == Op::None ? a.at(i, p) : a.at(p, i); }
  double b_at(Index p, Index j) const { return tried.op_b == Op::None ? b.at(p, j) : b.at(j, p); }
  double got(Index i, Index j) const { return c[static_cast<std::size_t>(i * tried.shape.n + j)]; }
  Written state(Index i, Index j) const { return written[static_cast<std::size_t>(i * tried.shape.n + j)]; }
  /// Returns Σ a(i, p)·b(p, j) for first ≤ p < last.
  double sum(Index i, Index j, Index first, Index last) const;
  /// Returns alpha·sum + beta·c.
  double scaled(Index i, Index j, double sum) const;
  double wanted(Index i, Index j) const { return scaled(i, j, sum(i, j, 0, tried.shape.k)); }
};

/// Returns "17×19×23, A transposed, alpha 2", for messages.
std::string to_text(const Case& tried);

} // namespace tessera::lessons
