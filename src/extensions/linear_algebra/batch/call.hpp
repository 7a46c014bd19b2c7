#pragma once

/// A batch whose arguments are right, for a type of numbers.

#include <algorithm>

#include <tessera/backend/small_systems.hpp>
#include <tessera/linear_algebra/batch.hpp>

namespace tessera::linear_algebra {

using BatchTask = SystemsTask;

/// Throws InvalidArgument, which names `function`, where the arguments of a task are wrong.
void check_batch(const char* function, BatchTask task, const detail::SystemBatch& call);

/// Where the matrices of a batch lie.
template <class T>
struct Members {
  T* first = nullptr;
  T* const* all = nullptr;
  Index ld = 0, stride = 0;

  Members() = default;
  Members(T* one, Index ld_of_one) : first(one), ld(ld_of_one) {}
  explicit Members(const detail::BatchMatrices& x)
      : first(static_cast<T*>(const_cast<void*>(x.first))),
        all(reinterpret_cast<T* const*>(const_cast<void* const*>(x.all))),
        ld(x.ld),
        stride(x.stride) {}
  T* at(Index i) const { return all != nullptr ? all[i] : first + i * stride; }
  /// Returns the matrices from number i on.
  Members from(Index i) const {
    Members rest = *this;
    if (all != nullptr)
      rest.all = all + i;
    else if (first != nullptr)
      rest.first = first + i * stride;
    return rest;
  }
};

/// The systems of a batch. A task uses what it needs, and writes no other operand.
template <class T>
struct Systems {
  BatchTask task = BatchTask::Solve;
  Index m = 0, n = 0, columns = 0, count = 0;
  Members<T> a, b;
  Triangle triangle = Triangle::Lower;
  Op op = Op::None;
  Index* pivots = nullptr;
  Index pivot_stride = 0; ///< from one system's pivots to the next one's
  Index* info = nullptr;  ///< null where the task has none

  Systems() = default;
  Systems(BatchTask which, const detail::SystemBatch& call)
      : task(which),
        m(call.m),
        n(call.n),
        columns(call.columns),
        count(call.count),
        a(call.a),
        b(call.b),
        triangle(call.triangle),
        op(call.op),
        pivots(const_cast<Index*>(call.pivots)),
        pivot_stride(std::min(m, n)),
        info(call.info) {}

  /// Returns the systems from number i on.
  Systems from(Index i) const {
    Systems rest = *this;
    rest.count = count - i;
    rest.a = a.from(i);
    rest.b = b.from(i);
    if (pivots != nullptr) rest.pivots = pivots + i * pivot_stride;
    if (info != nullptr) rest.info = info + i;
    return rest;
  }
};

} // namespace tessera::linear_algebra
