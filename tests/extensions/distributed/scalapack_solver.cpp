/// A program of ScaLAPACK that knows nothing of Tessera. It solves systems by p?gesv, whose updates are p?gemm, and
/// prints whether the residual is small and how many elements of the factor U differ from updates by Tessera's
/// contract.
///
/// The first row of a block row of U is what the updates left: the solver with the triangle of the block has a 1 on
/// its diagonal there. With the rows of L that lie left of it and the columns of U above it, the updates can be
/// computed anew: one for each block column, in ascending order.

#include <mpi.h>
#include <cstdio>
#include <limits>
#include <utility>

#include "scalapack_matrix.hpp"

namespace {

template <class T>
using Solve = void(const int*, const int*, T*, const int*, const int*, const int*, int*, T*, const int*, const int*,
                   const int*, int*);

} // namespace

extern "C" {
Solve<float> psgesv_;
Solve<double> pdgesv_;
}

namespace {

using namespace scalapack;

constexpr int n = 150, block = 16, right_sides = 3;

MPI_Datatype mpi_type(float) { return MPI_FLOAT; }
MPI_Datatype mpi_type(double) { return MPI_DOUBLE; }

/// A matrix that every process has whole, column by column.
template <class T>
struct Whole {
  int rows;
  std::vector<T> data;

  T operator()(int i, int j) const { return data[index(i, j)]; }
  std::size_t index(int i, int j) const {
    return static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * static_cast<std::size_t>(rows);
  }
};

template <class T>
Whole<T> collect(Dealt<T>& x) {
  Whole<T> whole{x.rows, std::vector<T>(static_cast<std::size_t>(x.rows) * static_cast<std::size_t>(x.cols))};
  x.each([&](int i, int j, T value) { whole.data[whole.index(i, j)] = value; });
  MPI_Allreduce(MPI_IN_PLACE, whole.data.data(), static_cast<int>(whole.data.size()), mpi_type(T{}), MPI_SUM,
                MPI_COMM_WORLD);
  return whole;
}

/// Returns which row of A became each row of the factors. `pivots` are this process's numbers, counted from 1.
template <class T>
std::vector<int> permutation(const Dealt<T>& a, const std::vector<int>& pivots) {
  std::vector<int> swapped(n), rows(n);
  for (int i = 0; i < a.local_rows; ++i)
    swapped[static_cast<std::size_t>(a.global_row(i))] = pivots[static_cast<std::size_t>(i)];
  MPI_Allreduce(MPI_IN_PLACE, swapped.data(), n, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) rows[static_cast<std::size_t>(i)] = i;
  for (std::size_t i = 0; i < rows.size(); ++i) std::swap(rows[i], rows[static_cast<std::size_t>(swapped[i] - 1)]);
  return rows;
}

/// Returns ‖b − A·x‖ over n·ε·‖A‖·‖x‖, in maximum norms; it is about 1 or less for a solver that is stable.
template <class T>
double residual(const Whole<T>& x) {
  double error = 0, norm_a = 0, norm_x = 0;
  for (int i = 0; i < n; ++i) {
    double row = 0;
    for (int l = 0; l < n; ++l) row += std::abs(static_cast<double>(number<T>(1, i, l)));
    norm_a = std::max(norm_a, row);
    for (int j = 0; j < right_sides; ++j) {
      auto left = static_cast<double>(number<T>(2, i, j));
      for (int l = 0; l < n; ++l) left -= static_cast<double>(number<T>(1, i, l)) * static_cast<double>(x(l, j));
      error = std::max(error, std::abs(left));
      norm_x = std::max(norm_x, std::abs(static_cast<double>(x(i, j))));
    }
  }
  return error / (n * static_cast<double>(std::numeric_limits<T>::epsilon()) * norm_a * norm_x);
}

template <class T>
void solve(const char* name, Solve<T>* call) {
  const int context = make_context("Row");
  Dealt<T> a(n, n, block, block, 1, context), b(n, right_sides, block, block, 2, context);
  std::vector<int> pivots(static_cast<std::size_t>(a.local_rows + block));
  int info = 0;
  call(&n, &right_sides, a.data.data(), &one, &one, a.descriptor.data(), pivots.data(), b.data.data(), &one, &one,
       b.descriptor.data(), &info);
  const Whole<T> factors = collect(a), x = collect(b);
  const std::vector<int> row_of = permutation(a, pivots);
  int compared = 0, differ = 0;
  for (int i = block; i < n; i += block)
    for (int j = i + block; j < n; ++j, ++compared) {
      T updated = number<T>(1, row_of[static_cast<std::size_t>(i)], j);
      for (int first = 0; first < i; first += block)
        updated -= sum_by_contract<T>(
            block, [&](int l) { return factors(i, first + l); }, [&](int l) { return factors(first + l, j); });
      if (updated != factors(i, j)) ++differ;
    }
  if (a.row == 0 && a.col == 0)
    std::printf("%s: %s, %d of %d elements of U differ\n", name,
                info == 0 && residual(x) < 10 ? "the residual is small" : "the system is not solved", differ, compared);
  Cblacs_gridexit(context);
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  solve("psgesv_", psgesv_);
  solve("pdgesv_", pdgesv_);
  MPI_Finalize();
  return 0;
}
