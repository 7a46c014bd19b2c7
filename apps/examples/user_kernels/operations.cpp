/// Operations that gemm_compare races across the backends, made of the functors of three programs in this folder:
///
///     gemm_compare --op-plugin libtessera_example_operations.so

#include <tessera/user_kernel/operation.hpp>

#include "jacobi.hpp"
#include "kmeans.hpp"
#include "layer.hpp"

using namespace tessera;

namespace {

/// Two sizes, and an array that is updated. The bias is a vector, so the shapes are said.
struct LayerEnd {
  static constexpr char name[] = "bias_and_tanh";
  static constexpr char summary[] = "y(i, j) = tanh(y(i, j) + bias(j))";
  static constexpr int sizes = 2;
  static std::array<ArrayShape, 2> shapes(const OperationSizes& s) { return {{{1, s.n}, {s.m, s.n}}}; }
  static void run(const OperationRun& x, In<float> bias, InOut<float> y) {
    for_each(x.executor, x.queue, x.m, x.n, BiasAndTanh{bias, y}, x.options);
  }
};

/// A stencil that reads the edge around what it writes.
struct Jacobi {
  static constexpr char name[] = "jacobi";
  static constexpr char summary[] = "the mean of four neighbours";
  static constexpr int sizes = 2;
  static constexpr double flops = 4;
  static std::array<ArrayShape, 2> shapes(const OperationSizes& s) { return {{{s.m + 2, s.n + 2}, {s.m, s.n}}}; }
  static void run(const OperationRun& x, In<double> old, Out<double> inner) {
    for_each(x.executor, x.queue, x.m, x.n, Step{old, inner}, x.options);
  }
};

/// Three sizes: m points, n centres, k dimensions. The operation refuses what its float cannot count.
struct KMeans {
  static constexpr char name[] = "kmeans";
  static constexpr char summary[] = "the nearest of n centres for each of m points in k dimensions";
  static constexpr int sizes = 3;
  static constexpr double flops = 3;
  static const char* reject(const OperationSizes& s) {
    return s.n > 1 << 24 ? "more than 2^24 centres, whose numbers a float does not hold" : nullptr;
  }
  static std::array<ArrayShape, 4> shapes(const OperationSizes& s) {
    return {{{s.m, s.k}, {s.n, s.k}, {1, s.m}, {1, s.m}}};
  }
  static void run(const OperationRun& x, In<float> points, In<float> centres, Out<float> nearest,
                  Out<double> distance) {
    // An index takes long, so a thread is worth starting for a hundred of them.
    for_each(x.executor, x.queue, x.m, Assign{points, centres, nearest, distance},
             {.threads = x.options.threads, .grain = 100});
  }
};

} // namespace

TESSERA_OPERATIONS(LayerEnd, Jacobi, KMeans)
