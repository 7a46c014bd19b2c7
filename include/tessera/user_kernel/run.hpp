#pragma once

/// What a program calls to run functors: views of matrices and memory, loops, reductions and scans.
///
///     Executor& e = executor(Backend::OpenMP);                     // or Cuda, Tbb, Reference
///     for_each(e, y.rows(), y.cols(), Saxpy{read(x, e), update(y, e), 2});
///     double s = sum(e, y.rows(), y.cols(), Square{read(y, e)});   // the same bits on every executor
///
/// The index space is 0 … n − 1, or rows×cols. Functors run on the executor's default queue, or on the queue that is
/// named. On a device for_each() and inclusive_scan() return when the work is enqueued; an error of the device is found
/// when the queue is next waited for. A reduction returns when its result is there. A matrix's views belong to the
/// default queue: with another queue the caller orders the two (Queue::synchronize()).
///
/// Errors. InvalidArgument: sizes that are negative or overflow, a view of another executor's memory, an Out or InOut
/// view that shares elements with a view of another layout, an extremum of no values. BackendUnavailable: the plug-in
/// with the functor's device code is missing, or lacks it; the text says which. DeviceError: the device failed. An
/// exception that a functor throws on the host reaches the caller once. Indices within a view are not checked.
/// docs/user_kernels.md has the details, and how device code is built.
///
/// Source: Kokkos's parallel_for, parallel_reduce and parallel_scan, and RAJA's forall; here the executor is chosen at
/// run time.

#include <tessera/detail/user_kernel/run_functor.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// Calls f(i) for each i in 0 … n − 1.
template <class F>
void for_each(Executor& executor, Queue& queue, Index n, const F& f, const LoopOptions& options = {}) {
  detail::run_for_each<1>(executor, queue, 1, n, f, options);
}
/// Calls f(i) for each i in 0 … n − 1, on the default queue.
template <class F>
void for_each(Executor& executor, Index n, const F& f, const LoopOptions& options = {}) {
  detail::run_for_each<1>(executor, executor.default_queue(), 1, n, f, options);
}
/// Calls f(i, j) for each i in 0 … rows − 1 and j in 0 … cols − 1.
template <class F>
void for_each(Executor& executor, Queue& queue, Index rows, Index cols, const F& f, const LoopOptions& options = {}) {
  detail::run_for_each<2>(executor, queue, rows, cols, f, options);
}
/// Calls f(i, j) for each i in 0 … rows − 1 and j in 0 … cols − 1, on the default queue.
template <class F>
void for_each(Executor& executor, Index rows, Index cols, const F& f, const LoopOptions& options = {}) {
  detail::run_for_each<2>(executor, executor.default_queue(), rows, cols, f, options);
}

/// Returns the sum of f(i), in the type that f returns and in the order of order.hpp; 0 where n is 0.
template <class F>
auto sum(Executor& executor, Queue& queue, Index n, const F& f, const LoopOptions& options = {}) {
  return detail::run_sum<1>(executor, queue, 1, n, f, options);
}
/// Returns the sum of f(i), on the default queue.
template <class F>
auto sum(Executor& executor, Index n, const F& f, const LoopOptions& options = {}) {
  return detail::run_sum<1>(executor, executor.default_queue(), 1, n, f, options);
}
/// Returns the sum of f(i, j), in the type that f returns and in the order of order.hpp; 0 where there is no index.
template <class F>
auto sum(Executor& executor, Queue& queue, Index rows, Index cols, const F& f, const LoopOptions& options = {}) {
  return detail::run_sum<2>(executor, queue, rows, cols, f, options);
}
/// Returns the sum of f(i, j), on the default queue.
template <class F>
auto sum(Executor& executor, Index rows, Index cols, const F& f, const LoopOptions& options = {}) {
  return detail::run_sum<2>(executor, executor.default_queue(), rows, cols, f, options);
}

/// Returns the smallest f(i) and its first place; the first NaN where there is one.
template <class F>
auto min(Executor& executor, Queue& queue, Index n, const F& f, const LoopOptions& options = {}) {
  return detail::run_extremum<1, false>(executor, queue, 1, n, f, options);
}
/// Returns the smallest f(i) and its first place, on the default queue.
template <class F>
auto min(Executor& executor, Index n, const F& f, const LoopOptions& options = {}) {
  return detail::run_extremum<1, false>(executor, executor.default_queue(), 1, n, f, options);
}
/// Returns the smallest f(i, j) and its first place, row by row; the first NaN where there is one.
template <class F>
auto min(Executor& executor, Queue& queue, Index rows, Index cols, const F& f, const LoopOptions& options = {}) {
  return detail::run_extremum<2, false>(executor, queue, rows, cols, f, options);
}
/// Returns the smallest f(i, j) and its first place, on the default queue.
template <class F>
auto min(Executor& executor, Index rows, Index cols, const F& f, const LoopOptions& options = {}) {
  return detail::run_extremum<2, false>(executor, executor.default_queue(), rows, cols, f, options);
}

/// Returns the largest f(i) and its first place; the first NaN where there is one.
template <class F>
auto max(Executor& executor, Queue& queue, Index n, const F& f, const LoopOptions& options = {}) {
  return detail::run_extremum<1, true>(executor, queue, 1, n, f, options);
}
/// Returns the largest f(i) and its first place, on the default queue.
template <class F>
auto max(Executor& executor, Index n, const F& f, const LoopOptions& options = {}) {
  return detail::run_extremum<1, true>(executor, executor.default_queue(), 1, n, f, options);
}
/// Returns the largest f(i, j) and its first place, row by row; the first NaN where there is one.
template <class F>
auto max(Executor& executor, Queue& queue, Index rows, Index cols, const F& f, const LoopOptions& options = {}) {
  return detail::run_extremum<2, true>(executor, queue, rows, cols, f, options);
}
/// Returns the largest f(i, j) and its first place, on the default queue.
template <class F>
auto max(Executor& executor, Index rows, Index cols, const F& f, const LoopOptions& options = {}) {
  return detail::run_extremum<2, true>(executor, executor.default_queue(), rows, cols, f, options);
}

/// Returns f(0), f(1), … combined in the order of order.hpp; combine's identity where n is 0. The functor for
/// TESSERA_CUDA_KERNELS is Reduction<F, Combine>.
template <class F, class Combine>
requires std::is_class_v<F>
auto reduce(Executor& executor, Queue& queue, Index n, const F& f, const Combine& combine,
            const LoopOptions& options = {}) {
  return detail::run_reduce<1>(executor, queue, 1, n, f, combine, options);
}
/// Returns f(0), f(1), … combined, on the default queue.
template <class F, class Combine>
requires std::is_class_v<F>
auto reduce(Executor& executor, Index n, const F& f, const Combine& combine, const LoopOptions& options = {}) {
  return detail::run_reduce<1>(executor, executor.default_queue(), 1, n, f, combine, options);
}
/// Returns f(i, j) of all indices combined in the order of order.hpp; combine's identity where there is none.
template <class F, class Combine>
requires std::is_class_v<F>
auto reduce(Executor& executor, Queue& queue, Index rows, Index cols, const F& f, const Combine& combine,
            const LoopOptions& options = {}) {
  return detail::run_reduce<2>(executor, queue, rows, cols, f, combine, options);
}
/// Returns f(i, j) of all indices combined, on the default queue.
template <class F, class Combine>
requires std::is_class_v<F>
auto reduce(Executor& executor, Index rows, Index cols, const F& f, const Combine& combine,
            const LoopOptions& options = {}) {
  return detail::run_reduce<2>(executor, executor.default_queue(), rows, cols, f, combine, options);
}

/// out(i) = in(0) + … + in(i), in the order of order.hpp. Both are vectors of one length; out may be in's own memory
/// with the same stride. The functor for TESSERA_CUDA_KERNELS is Scan<T>.
template <class T>
void inclusive_scan(Executor& executor, Queue& queue, const In<T>& in, const Out<T>& out,
                    const LoopOptions& options = {}) {
  detail::run_scan(executor, queue, in, out, options);
}
/// out(i) = in(0) + … + in(i), on the default queue.
template <class T>
void inclusive_scan(Executor& executor, const In<T>& in, const Out<T>& out, const LoopOptions& options = {}) {
  detail::run_scan(executor, executor.default_queue(), in, out, options);
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
