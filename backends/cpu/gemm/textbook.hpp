#pragma once

/// What the textbook rungs share: sharing out rows, operands whose rows stream, and the last step of the contract.

#include <algorithm>

#include "cpu/executor.hpp"

namespace tessera::cpu {

/// An operand by its two steps: x(i, j), transposed or not.
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

/// c := alpha·sum + beta·c; with beta = 0 the old c is not read.
template <class T>
void finish(const GemmOperands<T>& x, T sum, T& c) {
  c = x.beta == T{0} ? x.alpha * sum : x.alpha * sum + x.beta * c;
}

/// body(first, last, slot) for groups of rows of C, in parallel; each group starts at a multiple of `group`.
template <class Body>
void for_row_groups(CpuExecutor& cpu, const GemmCall& call, Index group, Body body) {
  const int threads = cpu.threads_for(call.threads);
  constexpr Index tasks_per_thread = 8; // evens out what the operating system takes from one thread
  const Index groups = (call.m + group - 1) / group;
  const Index each = std::max<Index>(1, groups / (threads * tasks_per_thread)) * group;
  cpu.team().run((call.m + each - 1) / each, threads,
                 [&](Index task, int slot) { body(task * each, std::min((task + 1) * each, call.m), slot); });
}

} // namespace tessera::cpu
