/// The checks of what callers give to functions of linear algebra.

#include <string>

#include <tessera/linear_algebra/lu.hpp>
#include <tessera/linear_algebra/qr.hpp>

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
