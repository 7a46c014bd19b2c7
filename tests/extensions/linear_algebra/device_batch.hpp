#pragma once

/// Batches for the tests of devices that compute them: systems of one size, what the tasks make of them, and the same
/// in the device's memory.

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/linear_algebra/batch.hpp>
#include <tessera/linear_algebra/device_batch.hpp>

#include "device_steps.hpp"
#include "drawn.hpp"

namespace tessera::test {

/// Numbers in the memory of the tested device.
template <class T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& values) : count_(values.size()) {
    void* memory = nullptr;
    throw_if_failed(device().allocate(bytes(), memory));
    memory_ = static_cast<T*>(memory);
    throw_if_failed(device().copy_in(device().default_queue(), memory_, bytes(), values.data(), bytes(), bytes(), 1));
  }
  ~OnDevice() { device().free(memory_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  T* get() const { return memory_; }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    throw_if_failed(device().copy_out(device().default_queue(), values.data(), bytes(), memory_, bytes(), bytes(), 1));
    return values;
  }

 private:
  std::size_t bytes() const { return std::max<std::size_t>(1, count_) * sizeof(T); }

  std::size_t count_;
  T* memory_ = nullptr;
};

/// Systems of one size with all that the tasks take, some of them singular or with numbers that are hard. Diagonals of
/// Hermitian matrices have imaginary parts, which nothing looks at.
template <class T>
struct Case {
  using Limits = std::numeric_limits<Part<T>>;

  Case(Draw& draw, Index rows, Index right, Index number)
      : n(rows),
        columns(right),
        count(number),
        lda(n + draw.index(0, 2)),
        ldb(columns + draw.index(0, 2)),
        stride_a(n * lda + draw.index(0, 3)),
        stride_b(n * ldb + draw.index(0, 3)),
        a(static_cast<std::size_t>(count * stride_a)),
        b(static_cast<std::size_t>(count * stride_b)),
        info(static_cast<std::size_t>(count), -7),
        pivots(static_cast<std::size_t>(count * n), -7) {
    for (T& value : a) value = draw.number<T>();
    for (T& value : b) value = draw.number<T>();
    positive = a;
    for (Index k = 0; k < count; ++k)
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < i; ++j) at(positive, k, j, i) = conjugate(at(positive, k, i, j));
        at(positive, k, i, i) += static_cast<Part<T>>(2 * n);
      }
    if (count > 2) {
      for (Index i = 0; i < n; ++i) at(a, 1, i, n / 2) = 0;
      at(a, 2, n / 2, n / 2) = Limits::quiet_NaN();
      at(positive, 1, n / 2, n / 2) = -1;
    }
    if (count > 3) {
      at(a, 3, 0, n - 1) = Limits::denorm_min();
      at(a, 3, n - 1, 0) = Limits::infinity();
    }
    if (count > 4) { // divisors whose squares vanish, or overflow, and ones that are real
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) at(a, 4, i, j) *= std::ldexp(Part<T>(1), (i + j) % 2 == 0 ? 70 : -70);
      at(positive, 4, n - 1, n - 1) = Limits::max() / 2;
    }
    if (count > 5)
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) at(a, 5, i, j) = std::real(at(a, 5, i, j));
  }
  T& at(std::vector<T>& x, Index k, Index i, Index j) const {
    return x[static_cast<std::size_t>(k * stride_a + i * lda + j)];
  }

  Index n, columns, count, lda, ldb, stride_a, stride_b;
  std::vector<T> a, b, positive;
  std::vector<Index> info, pivots;
};

/// What the tasks make of a case.
template <class T>
struct Results {
  std::vector<T> lu, lower, upper, solutions, turned, adjoint, positive, by_upper, by_lower, inverses;
  std::vector<Index> pivots, lu_info, lower_info, solve_info, positive_info, inverse_info;
};

template <class T>
Results<T> computed(const Case<T>& x, const SolveOptions& options) {
  Results<T> r{.lu = x.a,
               .lower = x.positive,
               .upper = x.positive,
               .solutions = x.b,
               .turned = x.b,
               .adjoint = x.b,
               .positive = x.b,
               .by_upper = x.b,
               .by_lower = x.b,
               .inverses = x.a,
               .pivots = x.pivots,
               .lu_info = x.info,
               .lower_info = x.info,
               .solve_info = x.info,
               .positive_info = x.info,
               .inverse_info = x.info};
  const auto& [n, columns, count] = std::tie(x.n, x.columns, x.count);
  lu_batch(n, n, r.lu.data(), x.lda, x.stride_a, r.pivots.data(), r.lu_info.data(), count, options);
  lu_solve_batch(Op::Transpose, n, columns, r.lu.data(), x.lda, x.stride_a, r.pivots.data(), r.turned.data(), x.ldb,
                 x.stride_b, count, options);
  lu_solve_batch(Op::ConjugateTranspose, n, columns, r.lu.data(), x.lda, x.stride_a, r.pivots.data(), r.adjoint.data(),
                 x.ldb, x.stride_b, count, options);
  solve_batch(n, columns, x.a.data(), x.lda, x.stride_a, r.solutions.data(), x.ldb, x.stride_b, r.solve_info.data(),
              count, options);
  inverse_batch(n, x.a.data(), x.lda, x.stride_a, r.inverses.data(), x.lda, x.stride_a, r.inverse_info.data(), count,
                options);
  cholesky_batch(Triangle::Lower, n, r.lower.data(), x.lda, x.stride_a, r.lower_info.data(), count, options);
  cholesky_batch(Triangle::Upper, n, r.upper.data(), x.lda, x.stride_a, r.lower_info.data(), count, options);
  solve_positive_batch(Triangle::Upper, n, columns, x.positive.data(), x.lda, x.stride_a, r.positive.data(), x.ldb,
                       x.stride_b, r.positive_info.data(), count, options);
  cholesky_solve_batch(Triangle::Upper, n, columns, r.upper.data(), x.lda, x.stride_a, r.by_upper.data(), x.ldb,
                       x.stride_b, count, options);
  cholesky_solve_batch(Triangle::Lower, n, columns, r.lower.data(), x.lda, x.stride_a, r.by_lower.data(), x.ldb,
                       x.stride_b, count, options);
  return r;
}

template <class T>
void expect_same(const Results<T>& x, const Results<T>& y) {
  BOOST_TEST(differing(x.lu, y.lu) == 0);
  BOOST_TEST(x.pivots == y.pivots, boost::test_tools::per_element());
  BOOST_TEST(x.lu_info == y.lu_info, boost::test_tools::per_element());
  BOOST_TEST(differing(x.turned, y.turned) == 0);
  BOOST_TEST(differing(x.adjoint, y.adjoint) == 0);
  BOOST_TEST(differing(x.solutions, y.solutions) == 0);
  BOOST_TEST(x.solve_info == y.solve_info, boost::test_tools::per_element());
  BOOST_TEST(differing(x.inverses, y.inverses) == 0);
  BOOST_TEST(x.inverse_info == y.inverse_info, boost::test_tools::per_element());
  BOOST_TEST(differing(x.lower, y.lower) == 0);
  BOOST_TEST(differing(x.upper, y.upper) == 0);
  BOOST_TEST(x.lower_info == y.lower_info, boost::test_tools::per_element());
  BOOST_TEST(differing(x.positive, y.positive) == 0);
  BOOST_TEST(x.positive_info == y.positive_info, boost::test_tools::per_element());
  BOOST_TEST(differing(x.by_upper, y.by_upper) == 0);
  BOOST_TEST(differing(x.by_lower, y.by_lower) == 0);
}

/// Enqueues a task for systems that the case has on the device, at strides or by pointers.
template <class T>
void run_there(SystemsTask task, const Case<T>& x, const OnDevice<T>& a, const OnDevice<T>& b,
               const OnDevice<Index>& pivots, const OnDevice<Index>& info, bool by_pointers) {
  SystemsCall call{.task = task,
                   .columns = task == SystemsTask::Inverse ? x.n : x.columns,
                   .count = x.count,
                   .a = a.get(),
                   .lda = x.lda,
                   .stride_a = x.stride_a,
                   .b = b.get(),
                   .ldb = x.ldb,
                   .stride_b = x.stride_b,
                   .pivots = pivots.get(),
                   .pivot_stride = x.n,
                   .info = info.get()};
  std::vector<void*> all_a, all_b;
  for (Index k = 0; k < x.count; ++k) {
    all_a.push_back(a.get() + k * x.stride_a);
    all_b.push_back(b.get() + k * x.stride_b);
  }
  const OnDevice<void*> pointers_a(all_a), pointers_b(all_b);
  if (by_pointers) {
    call.a = call.b = nullptr;
    call.all_a = pointers_a.get();
    call.all_b = pointers_b.get();
  }
  run_systems<T>(device(), device().default_queue(), x.n, x.n, call);
  throw_if_failed(device().default_queue().synchronize());
}

} // namespace tessera::test
