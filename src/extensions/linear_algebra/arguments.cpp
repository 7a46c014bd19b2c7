#include "arguments.hpp"

#include <algorithm>
#include <string>

#include <tessera/linear_algebra/lu.hpp>
#include <tessera/linear_algebra/qr.hpp>

namespace tessera::linear_algebra {
namespace {

[[noreturn]] void refuse(const char* function, const std::string& why) {
  throw InvalidArgument(std::string(function) + ": " + why);
}
StoredRows rows_of(const Stored& x) { return {x.data, x.rows, x.cols, x.ld, x.element}; }

} // namespace

void check_sizes(const char* function, std::initializer_list<NamedSize> sizes) {
  for (const NamedSize& size : sizes)
    if (size.value < 0)
      refuse(function, std::string(size.name) + " = " + std::to_string(size.value) + ", and must not be negative");
}

void check_stored(const char* function, const Stored& x, bool is_used) {
  const std::string name = x.name;
  if (x.ld < std::max<Index>(1, x.cols))
    refuse(function, "ld" + name + " = " + std::to_string(x.ld) + ", and stored rows of " + name + " have " +
                         std::to_string(x.cols) + " elements");
  if (is_used && x.data == nullptr) refuse(function, name + " is null");
}

void check_apart(const char* function, const Stored& x, const Stored& y) {
  if (overlap(rows_of(x), rows_of(y)))
    refuse(function,
           std::string(x.name) + " overlaps " + y.name + " in memory; one is read while the other is written");
}

void check_apart(const char* function, const Stored& square, Triangle triangle, const Stored& y) {
  if (!overlap(rows_of(square), rows_of(y))) return;
  for (Index i = 0; i < square.rows; ++i) {
    const Index first = triangle == Triangle::Lower ? 0 : i,
                count = triangle == Triangle::Lower ? i + 1 : square.rows - i;
    const auto offset = static_cast<std::size_t>(i * square.ld + first) * square.element;
    if (overlap({static_cast<const char*>(square.data) + offset, 1, count, square.ld, square.element}, rows_of(y)))
      refuse(function, std::string(square.name) + " overlaps " + y.name + " in memory, in row " + std::to_string(i) +
                           " of its triangle; one is read while the other is written");
  }
}

} // namespace tessera::linear_algebra

namespace tessera::detail {
namespace {

std::string shape(Index rows, Index cols) { return std::to_string(rows) + "×" + std::to_string(cols); }

} // namespace

void check_square(const char* function, Index rows, Index cols) {
  if (rows != cols)
    throw InvalidArgument(std::string(function) + ": the matrix is " + shape(rows, cols) + ", and must be square");
}

void check_system(const char* function, Index rows, Index cols, Index unknowns, Side side) {
  check_square(function, rows, cols);
  if (unknowns != rows)
    throw InvalidArgument(std::string(function) + ": the matrix is " + shape(rows, cols) +
                          ", and the right-hand side has " + std::to_string(unknowns) +
                          (side == Side::Left ? " rows" : " columns") + "; it must have " + std::to_string(rows));
}

void check_triangular(const char* function, Triangle triangle, Index n, const void* t, Index ldt, Index m, Index count,
                      const void* b, Index ldb, std::size_t element) {
  using namespace linear_algebra;
  check_sizes(function, {{"m", m}, {"n", count}});
  const Stored square{"t", t, n, n, ldt, element}, right{"b", b, m, count, ldb, element};
  const bool is_used = m > 0 && count > 0;
  check_stored(function, square, is_used);
  check_stored(function, right, is_used);
  if (is_used) check_apart(function, square, triangle, right);
}

void check_rows(const char* function, Index matrix_rows, Index matrix_cols, Index rows, Index given) {
  if (given != rows)
    throw InvalidArgument(std::string(function) + ": the matrix is " + shape(matrix_rows, matrix_cols) +
                          ", and the right-hand side has " + std::to_string(given) + " rows; it must have " +
                          std::to_string(rows));
}

void check_tall(const char* function, Index rows, Index cols) {
  if (rows < cols)
    throw InvalidArgument(std::string(function) + ": the matrix is " + shape(rows, cols) +
                          ", and must have at least as many rows as columns; the function least_squares and the " +
                          "factors of the transpose serve wide matrices");
}

} // namespace tessera::detail
