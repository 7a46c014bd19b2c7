#include "built_in.hpp"

#include <tessera/user_kernel/operation.hpp>

#include "examples/user_kernels/babelstream.hpp"
#include "reductions.hpp"

namespace tessera::compare_app {
namespace {

template <class T>
constexpr T scalar = T(0.4); // BabelStream's

template <class T>
struct StreamCopy {
  static constexpr char name[] = "copy", summary[] = "c(i) = a(i), of BabelStream";
  static void run(const OperationRun& x, In<T> a, Out<T> c) {
    for_each(x.executor, x.queue, x.n, stream::Copy<T>{a, c}, x.options);
  }
};
template <class T>
struct StreamMul {
  static constexpr char name[] = "mul", summary[] = "b(i) = 0.4·c(i), of BabelStream";
  static constexpr double flops = 1;
  static void run(const OperationRun& x, In<T> c, Out<T> b) {
    for_each(x.executor, x.queue, x.n, stream::Mul<T>{c, b, scalar<T>}, x.options);
  }
};
template <class T>
struct StreamAdd {
  static constexpr char name[] = "add", summary[] = "c(i) = a(i) + b(i), of BabelStream";
  static constexpr double flops = 1;
  static void run(const OperationRun& x, In<T> a, In<T> b, Out<T> c) {
    for_each(x.executor, x.queue, x.n, stream::Add<T>{a, b, c}, x.options);
  }
};
template <class T>
struct StreamTriad {
  static constexpr char name[] = "triad", summary[] = "a(i) = b(i) + 0.4·c(i), of BabelStream";
  static constexpr double flops = 2;
  static void run(const OperationRun& x, In<T> b, In<T> c, Out<T> a) {
    for_each(x.executor, x.queue, x.n, stream::Triad<T>{b, c, a, scalar<T>}, x.options);
  }
};
template <class T>
struct StreamDot {
  static constexpr char name[] = "dot", summary[] = "the sum of a(i)·b(i), of BabelStream";
  static constexpr double flops = 2;
  static T run(const OperationRun& x, In<T> a, In<T> b) {
    return tessera::sum(x.executor, x.queue, x.n, stream::Dot<T>{a, b}, x.options);
  }
};

template <class T>
struct Sum {
  static constexpr char name[] = "sum", summary[] = "the sum of a vector";
  static constexpr double flops = 1;
  static T run(const OperationRun& x, In<T> in) {
    return tessera::sum(x.executor, x.queue, x.n, Element<T>{in}, x.options);
  }
};
template <class T>
struct Min {
  static constexpr char name[] = "min", summary[] = "the smallest element of a vector, and its place";
  static Extremum<T> run(const OperationRun& x, In<T> in) {
    return tessera::min(x.executor, x.queue, x.n, Element<T>{in}, x.options);
  }
};
template <class T>
struct Max {
  static constexpr char name[] = "max", summary[] = "the largest element of a vector, and its place";
  static Extremum<T> run(const OperationRun& x, In<T> in) {
    return tessera::max(x.executor, x.queue, x.n, Element<T>{in}, x.options);
  }
};
template <class T>
struct InclusiveScan {
  static constexpr char name[] = "inclusive_scan", summary[] = "the sums of the elements up to each one";
  static constexpr double flops = 1;
  static void run(const OperationRun& x, In<T> in, Out<T> out) {
    inclusive_scan(x.executor, x.queue, in, out, x.options);
  }
};

} // namespace

std::span<const OperationEntry> built_in_operations() {
  const OperationTable& table =
      *detail::table_of_operations<StreamCopy<float>, StreamCopy<double>, StreamMul<float>, StreamMul<double>,
                                   StreamAdd<float>, StreamAdd<double>, StreamTriad<float>, StreamTriad<double>,
                                   StreamDot<float>, StreamDot<double>, Sum<float>, Sum<double>, Min<float>,
                                   Min<double>, Max<float>, Max<double>, InclusiveScan<float>, InclusiveScan<double>>();
  return {table.entries, table.count};
}

} // namespace tessera::compare_app
