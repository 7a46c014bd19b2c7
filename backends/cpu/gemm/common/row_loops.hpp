#pragma once

/// Helpers of the textbook rungs: a loop over rows of C on all threads, operands by their strides, strips of columns,
/// and the scaling of a sum.

#include <algorithm>
#include <vector>

#include "blocking.hpp"
#include "cpu/executor.hpp"

namespace tessera::cpu {

/// op(A) or op(B) by its two steps: x(i, j) is element (i, j), whether the operand is stored transposed or not.
template <class T>
struct Strided {
  const T* data;
  Index row_step;
  Index col_step;
  const T& operator()(Index i, Index j) const { return data[i * row_step + j * col_step]; }
};

template <class T>
Strided<T> strided_a(const GemmOperands<T>& x) {
  return x.op_a == Op::None ? Strided<T>{x.a, x.lda, 1} : Strided<T>{x.a, 1, x.lda};
}
template <class T>
Strided<T> strided_b(const GemmOperands<T>& x) {
  return x.op_b == Op::None ? Strided<T>{x.b, x.ldb, 1} : Strided<T>{x.b, 1, x.ldb};
}

/// Stores c := alpha·sum + beta·c. With beta = 0 it does not read the old c, which may be NaN.
template <class T>
void store_scaled(const GemmOperands<T>& x, T sum, T& c) {
  c = x.beta == T{0} ? x.alpha * sum : x.alpha * sum + x.beta * c;
}

/// Returns a call's number of threads, or fewer where the product is so small that waking a thread costs more than it
/// saves.
inline int threads_for_product(const CpuExecutor& cpu, const GemmCall& call) {
  constexpr double worth_a_thread = 65536; // multiply-adds
  const double work = static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k);
  return threads_for(work, cpu.threads_for(call.threads), worth_a_thread);
}

/// Calls body(first, last, slot) in parallel for the rows [first, last) of C. `first` is a multiple of `group`. `slot`
/// numbers the worker, see TaskBody. With a schedule of the runtime, each group is a task of its own.
template <class Body>
void for_row_groups(CpuExecutor& cpu, const GemmCall& call, Index group, Body body,
                    Schedule schedule = Schedule::Ranges) {
  const int threads = threads_for_product(cpu, call);
  constexpr Index tasks_per_thread = 8; // many tasks even out the time that the operating system takes from a thread
  const Index groups = (call.m + group - 1) / group;
  const Index together = schedule == Schedule::Ranges ? std::max<Index>(1, groups / (threads * tasks_per_thread)) : 1;
  const Index each = together * group;
  cpu.team().run((call.m + each - 1) / each, threads,
                 [&](Index task, int slot) { body(task * each, std::min((task + 1) * each, call.m), slot); }, schedule);
}

/// Copies all columns of the k×columns operand `x` into strips of `width` columns: element (p, s·width + q) goes to
/// strips[(s·k + p)·width + q]. The strip's places beyond the last column are zeros.
template <Index width, class T>
std::vector<T> pack_columns(CpuExecutor& cpu, const GemmCall& call, const Strided<T>& x, Index columns, Index k) {
  const Index count = (columns + width - 1) / width;
  auto strips = sized_vector<T>(static_cast<std::size_t>(count * width * k), "a packed operand");
  cpu.team().run(count, threads_for_product(cpu, call), [&](Index s, int) {
    T* strip = strips.data() + s * k * width;
    const Index cols = std::min(width, columns - s * width);
    for (Index p = 0; p < k; ++p)
      for (Index q = 0; q < cols; ++q) strip[p * width + q] = x(p, s * width + q);
  });
  return strips;
}

} // namespace tessera::cpu
