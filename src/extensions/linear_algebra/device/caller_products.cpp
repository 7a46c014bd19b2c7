/// Products of level 3 with matrices in the caller's host memory. Where a device is to compute them, each matrix is
/// copied there once, and the result back once. Where it has no memory for them, and for small products, the host
/// computes with products anywhere.

#include <optional>

#include "brought.hpp"
#include "extensions/linear_algebra/enter.hpp"
#include "extensions/linear_algebra/level3/checks.hpp"
#include "extensions/linear_algebra/on_host.hpp"
#include "level3.hpp"

namespace tessera::linear_algebra::device {
namespace {

template <class T>
CallersMatrix callers(Index m, Index n, const T* data, Index ld) {
  constexpr detail::NumberType type = detail::number_type_of<T>;
  return {type.part, Op::None, m, n, const_cast<T*>(data), ld, type.is_complex}; // operands are only read
}

/// Calls work(steps, begins) on the device that is to compute a product, and says whether there was one that had the
/// memory.
template <class T, class Work>
bool product_of_callers(const SolveOptions& options, GemmShape shape, const Work& work) {
  constexpr detail::NumberType type = detail::number_type_of<T>;
  return unless_refused({},
                        [&](bool& begins) {
                          Executor* const executor = device_of_product(options, type.part, shape, type.is_complex);
                          if (executor == nullptr) return false;
                          work(Steps(*executor, type.part, type.is_complex), begins);
                          return true;
                        })
      .value_or(false);
}

template <class T>
bool triangle_of_callers(const detail::TriangularCall<T>& call, const SolveOptions& options) {
  if (call.alpha == T(0)) return false;
  const bool is_left = call.side == Side::Left;
  return product_of_callers<T>(options, {call.n, call.count, call.n}, [&](const Steps& steps, bool& begins) {
    const CallersMatrix t = callers(call.n, call.n, call.t, call.ldt),
                        x = callers(is_left ? call.n : call.count, is_left ? call.count : call.n, call.b, call.ldb);
    const Brought triangle(steps, t), lines(steps, x);
    const TriangularProduct product(steps, {call.side, call.triangle, call.op, call.diagonal}, call.n, call.count);
    triangle.bring();
    lines.bring();
    bool begins_there = false;
    product.run(detail::exact_double(call.alpha), triangle.place(), lines.place(), begins_there);
    begins = true;
    lines.take_back();
  });
}

template <class T>
bool update_of_callers(const detail::RankUpdateCall<T>& call, const SolveOptions& options) {
  if (adds_nothing(call)) return false;
  const Index rows = call.op == Op::None ? call.n : call.k, cols = call.op == Op::None ? call.k : call.n;
  return product_of_callers<T>(options, {call.n, call.n, call.k}, [&](const Steps& steps, bool& begins) {
    const CallersMatrix a = callers(rows, cols, call.a, call.lda), c = callers(call.n, call.n, call.c, call.ldc),
                        b = call.has_b ? callers(rows, cols, call.b, call.ldb) : a;
    const Brought left(steps, a), result(steps, c);
    std::optional<Brought> right;
    if (call.has_b) right.emplace(steps, b);
    const RankUpdate update(steps, {call.triangle, call.op, detail::Complex<T> && call.is_hermitian, call.has_b},
                            call.n, call.k);
    left.bring();
    if (right) right->bring();
    if (call.beta != T(0)) result.bring();
    bool begins_there = false;
    update.run(detail::exact_double(call.alpha), left.place(), right ? right->place() : Place{},
               detail::exact_double(call.beta), result.place(), begins_there);
    result.take_back(call.triangle, begins);
  });
}

template <class T>
bool symmetric_of_callers(const detail::SymmetricCall<T>& call, const SolveOptions& options) {
  if (call.alpha == T(0)) return false;
  const Index order = call.side == Side::Left ? call.m : call.n;
  return product_of_callers<T>(options, {call.m, call.n, order}, [&](const Steps& steps, bool& begins) {
    const CallersMatrix a = callers(order, order, call.a, call.lda), b = callers(call.m, call.n, call.b, call.ldb),
                        c = callers(call.m, call.n, call.c, call.ldc);
    const Brought symmetric(steps, a), factor(steps, b), result(steps, c);
    const SymmetricProduct product(steps, call.side, call.triangle, detail::Complex<T> && call.is_hermitian, call.m,
                                   call.n, true);
    symmetric.bring();
    factor.bring();
    if (call.beta != T(0)) result.bring();
    bool begins_there = false;
    product.run(detail::exact_double(call.alpha), symmetric.place(), factor.place(), detail::exact_double(call.beta),
                result.place(), begins_there);
    begins = true;
    result.take_back();
  });
}

} // namespace
} // namespace tessera::linear_algebra::device

namespace tessera::detail {

namespace device = linear_algebra::device;

template <class T>
void triangular_multiply(const TriangularCall<T>& call, const SolveOptions& options, Shortage shortage) {
  linear_algebra::enter("triangular_multiply", options, [&] {
    if (!device::triangle_of_callers(call, options)) linear_algebra::multiply_triangle_on_host(call, options, shortage);
  });
}

template <class T>
void rank_update(const RankUpdateCall<T>& call, const SolveOptions& options, Shortage shortage) {
  linear_algebra::enter("syrk", options, [&] {
    linear_algebra::check_rank_update(call);
    if (!device::update_of_callers(call, options)) linear_algebra::update_on_host(call, options, shortage);
  });
}

template <class T>
void symmetric_multiply(const SymmetricCall<T>& call, const SolveOptions& options, Shortage shortage) {
  linear_algebra::enter("symm", options, [&] {
    linear_algebra::check_symmetric(call);
    if (!device::symmetric_of_callers(call, options))
      linear_algebra::multiply_symmetric_on_host(call, options, shortage);
  });
}

#define TESSERA_INSTANTIATE(T)                                                                         \
  template void triangular_multiply(const TriangularCall<T>&, const SolveOptions&, Shortage shortage); \
  template void rank_update(const RankUpdateCall<T>&, const SolveOptions&, Shortage);                  \
  template void symmetric_multiply(const SymmetricCall<T>&, const SolveOptions&, Shortage);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::detail
