/// A program of ScaLAPACK that uses p?gemm in all ways: descriptors of nine and of eleven entries, first blocks of
/// another size, parts that begin within a block, replicated rows and columns, illegal arguments. What it prints is the
/// same with the drop-in and without it, except for the number of elements that differ from Tessera's contract.

#include <mpi.h>
#include <cstdio>
#include <functional>
#include <string>

#include "scalapack_matrix.hpp"

template <class T>
using Gemm = void(const char*, const char*, const int*, const int*, const int*, const T*, const T*, const int*,
                  const int*, const int*, const T*, const int*, const int*, const int*, const T*, T*, const int*,
                  const int*, const int*);

namespace {
int refused_with = 0; ///< what PB_Cabort was told
}

extern "C" {
Gemm<float> psgemm_;
Gemm<double> pdgemm_;
Gemm<std::complex<float>> pcgemm_;
Gemm<std::complex<double>> pzgemm_;
// ScaLAPACK calls these of the program, as its own testers want it; its own ones end the program.
#define SEEN_BY_LIBRARIES __attribute__((visibility("default")))
SEEN_BY_LIBRARIES void PB_Cabort(int context, char* routine, int info);
void PB_Cabort(int, char*, int info) { refused_with = info; }
SEEN_BY_LIBRARIES void PB_Cwarn(int context, int line, char* routine, char* form, ...);
void PB_Cwarn(int, int, char*, char*, ...) {}
}

namespace {

using namespace scalapack;

/// Rows or columns that are dealt in blocks: to one process after another, or (source −1) to all.
struct Blocks {
  int first, other, source;

  bool has(int index, int process, int processes) const {
    if (source < 0) return true;
    const int turn = index < first ? 0 : 1 + (index - first) / other;
    return (source + turn) % processes == process;
  }
};

/// A matrix of 1200×1200 at most, of which a process has the elements that its blocks say.
template <class T>
struct Matrix {
  int rows, cols;
  Blocks by_rows, by_cols;
  int p = 0, q = 0, row = 0, col = 0;
  std::vector<int> own_rows, own_cols;
  std::vector<int> descriptor;
  std::vector<T> data;

  Matrix(int m, int n, Blocks r, Blocks c, int context, bool eleven) : rows(m), cols(n), by_rows(r), by_cols(c) {
    Cblacs_gridinfo(context, &p, &q, &row, &col);
    for (int i = 0; i < m; ++i)
      if (r.has(i, row, p)) own_rows.push_back(i);
    for (int j = 0; j < n; ++j)
      if (c.has(j, col, q)) own_cols.push_back(j);
    const int ld = std::max<int>(1, static_cast<int>(own_rows.size()));
    if (eleven)
      descriptor = {2, context, m, n, r.first, c.first, r.other, c.other, r.source, c.source, ld};
    else
      descriptor = {1, context, m, n, r.other, c.other, r.source, c.source, ld};
    data.resize(own_rows.size() * own_cols.size());
  }
  template <class Visit>
  void each(Visit&& visit) {
    std::size_t place = 0;
    for (const int j : own_cols)
      for (const int i : own_rows) visit(i, j, data[place++]);
  }
};

/// A whole number, so that sums are exact.
template <class T>
T whole(int seed, int i, int j) {
  return static_cast<T>(static_cast<float>((i * 7 + j * 3 + seed) % 5 - 2));
}

template <class T>
struct Ways {
  Gemm<T>* gemm;
  int context;
  int wrong = 0;

  /// Computes a part of C := 2·op(A)·op(B) − C, whose first element is (first, first) in all matrices, and counts wrong
  /// elements, also beside the part.
  void product(const char* op_a, const char* op_b, Blocks a_blocks, Blocks b_blocks, Blocks c_blocks, bool eleven,
               int first, int k = 17) {
    constexpr int m = 13, n = 11, size = 40;
    const bool turn_a = *op_a != 'N', turn_b = *op_b != 'N';
    Matrix<T> a(size, size, a_blocks, a_blocks, context, eleven), b(size, size, b_blocks, b_blocks, context, eleven),
        c(size, size, c_blocks, c_blocks, context, eleven);
    a.each([](int i, int j, T& x) { x = whole<T>(1, i, j); });
    b.each([](int i, int j, T& x) { x = whole<T>(2, i, j); });
    c.each([](int i, int j, T& x) { x = whole<T>(3, i, j); });
    const T alpha = 2, beta = -1;
    gemm(op_a, op_b, &m, &n, &k, &alpha, a.data.data(), &first, &first, a.descriptor.data(), b.data.data(), &first,
         &first, b.descriptor.data(), &beta, c.data.data(), &first, &first, c.descriptor.data());
    const int f = first - 1;
    c.each([&](int i, int j, T& x) {
      T expected = whole<T>(3, i, j);
      if (i >= f && i < f + m && j >= f && j < f + n) {
        T sum = 0;
        for (int l = f; l < f + k; ++l)
          sum += (turn_a ? whole<T>(1, l, i) : whole<T>(1, i, l)) * (turn_b ? whole<T>(2, j, l) : whole<T>(2, l, j));
        expected = alpha * sum + beta * expected;
      }
      if (x != expected) ++wrong;
    });
  }

  void run() {
    const Blocks plain{4, 4, 0}, moved{4, 4, 1}, short_first{3, 5, 1}, long_first{6, 4, 0}, everywhere{4, 4, -1};
    for (const auto& [op_a, op_b] : {std::pair{"N", "N"}, {"T", "N"}, {"N", "C"}, {"T", "T"}}) {
      for (const bool eleven : {false, true})
        for (const int first : {1, 5, 6}) product(op_a, op_b, plain, moved, plain, eleven, first);
      for (const int first : {1, 2, 4, 7}) product(op_a, op_b, short_first, long_first, short_first, true, first);
      for (const bool eleven : {false, true}) {
        product(op_a, op_b, everywhere, plain, plain, eleven, 1);
        product(op_a, op_b, plain, everywhere, plain, eleven, 5);
        product(op_a, op_b, everywhere, everywhere, everywhere, eleven, 1);
      }
      product(op_a, op_b, plain, plain, plain, true, 1, 0);
    }
  }
};

/// Arguments that ScaLAPACK refuses, and the numbers with which it does.
int count_other_refusals() {
  const int context = make_context("Row");
  struct Arguments {
    char op_a = 'N', op_b = 'N';
    int m = 16, n = 16, k = 16;
    int at[6] = {1, 1, 1, 1, 1, 1}; ///< i and j of a, b, c
    std::vector<int> descriptors[3];
  };
  struct Refusal {
    std::function<void(Arguments&)> spoil;
    int info;
  };
  std::vector<Refusal> refusals{{[](Arguments& x) { x.op_a = 'X'; }, -1}, {[](Arguments& x) { x.op_b = 'X'; }, -2},
                                {[](Arguments& x) { x.m = -1; }, -3},     {[](Arguments& x) { x.n = -1; }, -4},
                                {[](Arguments& x) { x.k = -1; }, -5},     {[](Arguments& x) { x.m = 17; }, -8}};
  constexpr int positions[3] = {10, 14, 19}; // of the descriptors
  for (std::size_t x = 0; x < 3; ++x) {
    const int position = positions[x];
    refusals.push_back({[x](Arguments& y) { y.at[2 * x] = 0; }, -(position - 2)});
    refusals.push_back({[x](Arguments& y) { y.at[2 * x + 1] = 0; }, -(position - 1)});
    refusals.push_back({[x](Arguments& y) { y.at[2 * x] = 2; }, -(position - 2)});
    struct Entry {
      std::size_t place;
      int value;
    };
    for (const Entry& e : {Entry{0, 3},
                           {0, 501},
                           {1, -1},
                           {2, 0},
                           {3, -1},
                           {4, 0},
                           {5, 0},
                           {6, 0},
                           {7, -1},
                           {8, -2},
                           {8, 2},
                           {9, -2},
                           {9, 2},
                           {10, 0},
                           {10, 7}})
      refusals.push_back({[x, e](Arguments& y) { y.descriptors[x][e.place] = e.value; },
                          -(position * 100 + 1 + static_cast<int>(e.place))});
  }
  int other = 0;
  for (const Refusal& refusal : refusals) {
    Matrix<double> a(16, 16, {4, 4, 0}, {4, 4, 0}, context, true);
    Arguments x;
    for (auto& descriptor : x.descriptors) descriptor = a.descriptor;
    refusal.spoil(x);
    refused_with = 0;
    std::vector<double> c(a.data.size(), 7);
    const double alpha = 1, beta = 1;
    pdgemm_(&x.op_a, &x.op_b, &x.m, &x.n, &x.k, &alpha, a.data.data(), &x.at[0], &x.at[1], x.descriptors[0].data(),
            a.data.data(), &x.at[2], &x.at[3], x.descriptors[1].data(), &beta, c.data(), &x.at[4], &x.at[5],
            x.descriptors[2].data());
    if (refused_with == refusal.info && c == std::vector<double>(a.data.size(), 7)) continue;
    std::printf("refused with %d, not with %d\n", refused_with, refusal.info);
    ++other;
  }
  Cblacs_gridexit(context);
  return other;
}

/// Returns how many elements differ from the contract where a first block may have a size of its own.
int count_differences() {
  int differences = 0;
  const int context = make_context("Row");
  for (const Blocks& blocks : {Blocks{8, 8, 0}, Blocks{3, 8, 1}}) {
    constexpr int k = 1100, m = 20;
    const int first = blocks.first == blocks.other ? 1 : blocks.first + 1;
    Matrix<double> a(m + 3, k + 3, blocks, blocks, context, true), b(k + 3, m + 3, blocks, blocks, context, true),
        c(m + 3, m + 3, blocks, blocks, context, true);
    a.each([](int i, int j, double& x) { x = number<double>(1, i, j); });
    b.each([](int i, int j, double& x) { x = number<double>(2, i, j); });
    const double one_number = 1, none = 0;
    pdgemm_("N", "N", &m, &m, &k, &one_number, a.data.data(), &first, &first, a.descriptor.data(), b.data.data(),
            &first, &first, b.descriptor.data(), &none, c.data.data(), &first, &first, c.descriptor.data());
    const int f = first - 1;
    c.each([&](int i, int j, double x) {
      if (i < f || j < f || i >= f + m || j >= f + m) return;
      const double sum = sum_by_contract<double>(
          k, [&](int l) { return number<double>(1, i, f + l); }, [&](int l) { return number<double>(2, f + l, j); });
      if (x != sum) ++differences;
    });
  }
  Cblacs_gridexit(context);
  return differences;
}

template <class T>
int count_wrong(Gemm<T>* gemm) {
  Ways<T> ways{gemm, make_context("Row")};
  ways.run();
  Cblacs_gridexit(ways.context);
  return ways.wrong;
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool few = argc > 1 && std::string(argv[1]) == "few";
  const int mine[] = {few ? 0 : count_wrong(psgemm_), count_wrong(pdgemm_),   few ? 0 : count_wrong(pcgemm_),
                      few ? 0 : count_wrong(pzgemm_), count_other_refusals(), count_differences()};
  int all[6] = {};
  MPI_Reduce(mine, all, 6, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    std::printf(
        "wrong: %d %d %d %d; refusals that are not ScaLAPACK's: %d; elements that differ from the contract: %d\n",
        all[0], all[1], all[2], all[3], all[4], all[5]);
  MPI_Finalize();
  return 0;
}
