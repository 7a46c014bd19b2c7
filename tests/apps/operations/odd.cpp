/// Operations that throw, refuse, or do not do the same everywhere. Tests check what gemm_compare says of each.

#include <cmath>
#include <stdexcept>

#include <tessera/user_kernel/operation.hpp>

namespace {

using namespace tessera;

/// y := x, with a fault at one index of the backends that are not the reference.
struct Copying {
  static constexpr char name[] = "copying";
  In<float> x;
  Out<float> y;
  Index skipped, off; ///< −1: none
  void operator()(Index i) const {
    if (i == skipped) return;
    y(i) = i == off ? std::nextafter(x(i), 9.0f) : x(i);
  }
};

struct Throwing {
  static constexpr char name[] = "throwing";
  Out<float> y;
  void operator()(Index i) const {
    if (i == 7) throw std::runtime_error("index 7 threw");
    y(i) = 1;
  }
};

struct Counting {
  static constexpr char name[] = "counting";
  In<std::int32_t> x;
  InOut<std::int32_t> y;
  void operator()(Index i) const { y(i) = y(i) + x(i); }
};
struct Whole {
  static constexpr char name[] = "whole";
  In<std::int32_t> x;
  std::int64_t operator()(Index i) const { return x(i); }
};
struct Rounding {
  static constexpr char name[] = "rounding";
  In<f16> x;
  Out<bf16> y;
  void operator()(Index i, Index j) const { y(i, j) = x(i, j); }
};

bool is_reference(const OperationRun& x) { return x.executor.capabilities().backend == Backend::Reference; }
void copy(const OperationRun& x, In<float> from, Out<float> to, Index skipped, Index off) {
  for_each(x.executor, x.queue, x.n, Copying{from, to, skipped, off}, x.options);
}

struct Throws {
  static constexpr char name[] = "throws", summary[] = "an index throws";
  static void run(const OperationRun& x, Out<float> y) { for_each(x.executor, x.queue, x.n, Throwing{y}, x.options); }
};
struct ThrowsElsewhere {
  static constexpr char name[] = "throws_elsewhere", summary[] = "it throws an int on other backends";
  static void run(const OperationRun& x, In<float> from, Out<float> to) {
    if (!is_reference(x)) throw 5;
    copy(x, from, to, -1, -1);
  }
};
struct OtherBits {
  static constexpr char name[] = "other_bits", summary[] = "element 11 is off on other backends";
  static void run(const OperationRun& x, In<float> from, Out<float> to) {
    copy(x, from, to, -1, is_reference(x) ? -1 : 11);
  }
};
struct WithinOneUlp {
  static constexpr char name[] = "within_one_ulp", summary[] = "element 11 may be off";
  static constexpr int ulps = 1;
  static void run(const OperationRun& x, In<float> from, Out<float> to) { OtherBits::run(x, from, to); }
};
struct Unwritten {
  static constexpr char name[] = "unwritten", summary[] = "element 3 is not written anywhere";
  static void run(const OperationRun& x, In<float> from, Out<float> to) { copy(x, from, to, 3, -1); }
};
struct Refuses {
  static constexpr char name[] = "refuses", summary[] = "it takes at most 100 elements";
  static const char* reject(const OperationSizes& s) { return s.n > 100 ? "more than 100 elements" : nullptr; }
  static void run(const OperationRun& x, In<float> from, Out<float> to) { copy(x, from, to, -1, -1); }
};
struct Negative {
  static constexpr char name[] = "negative", summary[] = "the shape of its array is negative";
  static std::array<ArrayShape, 1> shapes(const OperationSizes& s) { return {{{1, s.n - 10}}}; }
  static void run(const OperationRun&, Out<float>) {}
};
/// i32 arrays, one of them updated, and a number of 64 bits.
struct WholeNumbers {
  static constexpr char name[] = "whole_numbers", summary[] = "y += x, and Σx";
  static std::int64_t run(const OperationRun& x, In<std::int32_t> in, InOut<std::int32_t> y) {
    for_each(x.executor, x.queue, x.n, Counting{in, y}, x.options);
    return sum(x.executor, x.queue, x.n, Whole{in}, x.options);
  }
};
struct Narrow {
  static constexpr char name[] = "narrow", summary[] = "16-bit elements";
  static constexpr int sizes = 2;
  static constexpr double bytes = 100;
  static void run(const OperationRun& x, In<f16> from, Out<bf16> to) {
    for_each(x.executor, x.queue, x.m, x.n, Rounding{from, to}, x.options);
  }
};
/// No array at all, and a number that is other on other backends.
struct Number {
  static constexpr char name[] = "number", summary[] = "it returns a number";
  static double run(const OperationRun& x) { return is_reference(x) ? 0.5 : 0.75; }
};

} // namespace

TESSERA_OPERATIONS(Throws, ThrowsElsewhere, OtherBits, WithinOneUlp, Unwritten, Refuses, Negative, WholeNumbers, Narrow,
                   Number)
