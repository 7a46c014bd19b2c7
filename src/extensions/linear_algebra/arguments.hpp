#pragma once

/// The checks of what callers give to functions of linear algebra. They throw InvalidArgument.

#include <initializer_list>

#include <tessera/linear_algebra/options.hpp>

namespace tessera::linear_algebra {

struct NamedSize {
  const char* name;
  Index value;
};
/// Refuses sizes that are negative.
void check_sizes(const char* function, std::initializer_list<NamedSize> sizes);

/// A matrix as the caller passed it, by rows.
struct Stored {
  const char* name;
  const void* data;
  Index rows, cols, ld;
  std::size_t element; ///< bytes
};
/// Refuses a leading dimension that is less than a row, and null where the matrix is used.
void check_stored(const char* function, const Stored& x, bool is_used);
/// Refuses memory that two matrices share, one of which is written.
void check_apart(const char* function, const Stored& x, const Stored& y);
/// Refuses memory that a triangle shares with another matrix. The two may share a rectangle, as in LAPACK's packed
/// formats: rows of the triangle are compared one by one.
void check_apart(const char* function, const Stored& square, Triangle triangle, const Stored& y);

} // namespace tessera::linear_algebra
