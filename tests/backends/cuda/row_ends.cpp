/// Batches on a device whose products share the rows of A and C, with ends that the device reads: each product has the
/// bits that it has alone.

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <vector>

#include <tessera/executor.hpp>
#include <tessera/tessera.hpp>

#include "round_trip.hpp"

using namespace tessera;
using cuda_test::check_ok;

namespace {

/// Elements in a device's memory.
template <class T>
class Elements {
 public:
  explicit Elements(const std::vector<T>& x) : bytes_(x.size() * sizeof(T)) {
    check_ok(device().allocate(std::max<std::size_t>(bytes_, 1), data_));
    check_ok(device().copy_in(device().default_queue(), data_, bytes_, x.data(), bytes_, bytes_, 1));
  }
  ~Elements() { device().free(data_); }
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;

  static Executor& device() { return executor(Backend::Cuda); }
  void* data() const { return data_; }
  std::vector<T> elements() const {
    std::vector<T> x(bytes_ / sizeof(T));
    check_ok(device().copy_out(device().default_queue(), x.data(), bytes_, data_, bytes_, bytes_, 1));
    return x;
  }

 private:
  std::size_t bytes_;
  void* data_ = nullptr;
};

template <class T>
std::vector<T> random_elements(Index count, Seed seed) {
  const Matrix<float> x = Matrix<float>::random(1, count, seed);
  std::vector<T> out;
  for (Index i = 0; i < count; ++i) out.push_back(static_cast<T>(x(0, i)));
  return out;
}

/// Compares a group with products that are computed alone. `wanted` are the ends as the group understands them.
template <class T, class R, class End>
void check_group(Math math, const GemmShape& s, Op op_a, Op op_b, const std::vector<End>& ends,
                 std::vector<Index> wanted, double alpha, double beta) {
  Executor& device = Elements<T>::device();
  const auto count = static_cast<Index>(ends.size());
  const Elements<T> a(random_elements<T>(s.m * s.k, Seed{1})), b(random_elements<T>(count * s.k * s.n, Seed{2}));
  const std::vector<R> before = random_elements<R>(s.m * s.n, Seed{3});
  const Elements<R> together(before), alone(before);
  const Elements<End> on_device(ends);
  GemmCall call{{.type = dtype_of<T>,
                 .math = math,
                 .op_a = op_a,
                 .op_b = op_b,
                 .m = s.m,
                 .n = s.n,
                 .k = s.k,
                 .alpha = alpha,
                 .a = a.data(),
                 .lda = std::max<Index>(op_a == Op::None ? s.k : s.m, 1),
                 .b = b.data(),
                 .ldb = std::max<Index>(op_b == Op::None ? s.n : s.k, 1),
                 .beta = beta,
                 .c = together.data(),
                 .ldc = s.n},
                dtype_of<R>};
  const GemmBatch group{
      .call = call, .count = count, .stride_b = s.k * s.n, .ends = {on_device.data(), sizeof(End) == 8}};
  check_ok(device.gemm_batch(device.default_queue(), {&group, 1}));
  Index begin = 0;
  for (Index i = 0; i < count; ++i) {
    const Index end = wanted[static_cast<std::size_t>(i)];
    call.m = end - begin;
    call.a = static_cast<T*>(a.data()) + begin * (op_a == Op::None ? call.lda : 1);
    call.b = static_cast<T*>(b.data()) + i * group.stride_b;
    call.c = static_cast<R*>(alone.data()) + begin * s.n;
    if (call.m > 0) check_ok(device.gemm(device.default_queue(), call));
    begin = end;
  }
  call.m = s.m - begin; // the rows after the last product
  call.k = 0;
  call.c = static_cast<R*>(alone.data()) + begin * s.n;
  if (call.m > 0) check_ok(device.gemm(device.default_queue(), call));
  const auto equal = [](R x, R y) { return static_cast<double>(x) == static_cast<double>(y); };
  const std::vector<R> x = together.elements(), y = alone.elements();
  BOOST_TEST(std::equal(x.begin(), x.end(), y.begin(), equal), to_string(dtype_of<T>)
                                                                   << " in " << to_string(math) << ", " << s.m << "×"
                                                                   << s.n << "×" << s.k << " of " << count);
}

/// Ends of `count` products, with empty ones among them, up to `m`.
std::vector<Index> some_ends(Index count, Index m) {
  std::vector<Index> ends;
  for (Index i = 1; i <= count; ++i) ends.push_back(i % 3 == 0 ? ends.back() : m * i * i / (count * count));
  return ends;
}

template <class T, class R>
void check_type(Math math) {
  for (const Index count : {1, 7, 33, 100})
    for (const GemmShape& s : {GemmShape{130, 70, 90}, GemmShape{1500, 40, 1100}, GemmShape{9, 5, 3}})
      for (const Op op_a : {Op::None, Op::Transpose})
        for (const Op op_b : {Op::None, Op::Transpose}) {
          const std::vector<Index> ends = some_ends(count, s.m - 2);
          check_group<T, R>(math, s, op_a, op_b, std::vector<std::int32_t>(ends.begin(), ends.end()), ends, 1, 0);
          if (op_a == op_b)
            check_group<T, R>(math, s, op_a, op_b, std::vector<std::int64_t>(ends.begin(), ends.end()), ends, 0.5, -2);
        }
}

} // namespace

BOOST_AUTO_TEST_SUITE(row_ends)

BOOST_AUTO_TEST_CASE(products_have_the_bits_that_they_have_alone) {
  check_type<float, float>(Math::Strict);
  check_type<double, double>(Math::Strict);
  check_type<bf16, bf16>(Math::Bf16);
  check_type<f16, float>(Math::Fp16);
  check_type<float, float>(Math::Tf32);
  check_type<bf16, float>(Math::Strict);
}

BOOST_AUTO_TEST_CASE(ends_that_do_not_ascend_are_those_before_them) {
  const std::vector<std::int32_t> ends{-5, 40, 20, 41, 3000, 60};
  for (const Index k : {0, 64})
    check_group<float, float>(Math::Strict, {130, 70, k}, Op::None, Op::None, ends, {0, 40, 40, 41, 130, 130}, 1, 3);
  check_group<bf16, bf16>(Math::Bf16, {130, 70, 64}, Op::None, Op::None, ends, {0, 40, 40, 41, 130, 130}, 0, 3);
}

BOOST_AUTO_TEST_CASE(what_no_kernel_takes_is_rejected) {
  Executor& device = executor(Backend::Cuda);
  const Elements<float> memory(std::vector<float>(64));
  GemmBatch group{.call = {{.math = Math::EmulatedFp16x3,
                            .m = 4,
                            .n = 4,
                            .k = 4,
                            .a = memory.data(),
                            .lda = 4,
                            .b = static_cast<float*>(memory.data()) + 16,
                            .ldb = 4,
                            .c = static_cast<float*>(memory.data()) + 32,
                            .ldc = 4}},
                  .ends = {static_cast<float*>(memory.data()) + 48}};
  const Status mode = device.gemm_batch(device.default_queue(), {&group, 1});
  BOOST_TEST((mode.code == StatusCode::Rejected), mode.why);
  group.call.math = Math::Strict;
  const Status named = device.gemm_batch(device.default_queue(), {&group, 1}, "slender");
  BOOST_TEST((named.code == StatusCode::Rejected), named.why);
  check_ok(device.gemm_batch(device.default_queue(), {&group, 1}));
}

BOOST_AUTO_TEST_SUITE_END()
