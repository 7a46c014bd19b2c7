#pragma once

/// Matrices and queues: products and copies that the host does not wait for.
///
///     ExecutionQueue queue(Backend::Cuda);
///     auto a = Matrix<float>::pinned(n, n, queue.executor());  // … fill a and b …
///     prefetch(a, queue);                    // the copy begins; the host goes on
///     gemm(queue, 1.0f, a, b, 0.0f, c);      // after the copy
///     prefetch_to_host(c, queue);            // after the product
///     float x = std::as_const(c)(0, 0);      // waits for what c waits for
///     queue.finish();                        // waits for everything; throws what failed
///
/// A queue does its work in order, and several of them may work side by side. A matrix knows which queues still use it,
/// so that the program need not order anything by hand; only one thread at a time may use a queue, and writing a matrix
/// needs the caller's own synchronisation. docs/cpp.md ("Matrices in queues") has lifetimes, and pinned and pageable
/// memory.
///
/// Errors: what is wrong with the arguments is thrown at once, and OutOfMemory too: a product in a queue is not cut
/// into parts. A failure on the device is thrown by finish(), and by the access that waits for it.
///
/// Source: Kokkos' execution space instances and deep_copy with an instance; CUDA's streams, events and
/// cudaMemPrefetchAsync.

#include <memory>
#include <vector>

#include <tessera/backend.hpp>
#include <tessera/gemm.hpp>
#include <tessera/matrix.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

namespace detail {
class QueuedWork;
}

/// A queue of an executor for work on matrices. It is also a guard: at the end of its scope the work is done.
class TESSERA_API ExecutionQueue {
 public:
  /// Makes a queue of this backend's executor. Throws what executor() throws, and DeviceError or OutOfMemory.
  explicit ExecutionQueue(Backend backend = Backend::Auto);
  /// Makes a queue of this executor, which must outlive it. Throws DeviceError or OutOfMemory.
  explicit ExecutionQueue(Executor& executor);
  /// Waits for the work. A failure that no call of finish() reported is written to stderr, because a destructor must
  /// not throw; the matrices' elements are then undefined.
  ~ExecutionQueue();
  ExecutionQueue(const ExecutionQueue&) = delete;
  ExecutionQueue& operator=(const ExecutionQueue&) = delete;

  /// Waits until the work is done, and throws its failure, if it failed.
  void finish();
  /// Makes the work enqueued here later start after the work that is in the other queue now. The host does not wait.
  /// Matrices order their own work; this is for memory that Tessera does not know.
  void wait_for(ExecutionQueue& other);

  /// Returns the executor that does the work.
  Executor& executor() const noexcept { return executor_; }
  /// Returns the queue, for calls of the executor's own methods.
  Queue& queue() const noexcept { return *queue_; }

 private:
  friend class detail::QueuedWork;
  friend class detail::Storage;

  /// Records a mark after the work that is in the queue now.
  std::shared_ptr<detail::QueueMark> mark();
  /// Makes the queue start after the work that functions without a queue have given the executor so far.
  void start_after_default_queue();

  Executor& executor_;
  std::unique_ptr<Queue> queue_;
  bool reported_ = false;                                 ///< finish() has thrown
  std::unique_ptr<Event> default_queue_;                  ///< recorded in the default queue
  std::vector<std::shared_ptr<detail::QueueMark>> marks_; ///< one that no matrix holds is used again
};

namespace detail {
TESSERA_API void copy(const Operand& x, const Operand& z, ExecutionQueue& queue);
TESSERA_API void copy_to_host(const Operand& x, const Operand& z, ExecutionQueue& queue);
TESSERA_API void prefetch(const Operand& x, ExecutionQueue& queue);
TESSERA_API void prefetch_to_host(const Operand& x, ExecutionQueue& queue);
TESSERA_API void gemm(ExecutionQueue& queue, double alpha, const Operand& a, const Operand& b, double beta,
                      const Operand& c, const GemmOptions& options);
} // namespace detail

/// Enqueues to := from, and converts the elements if the types differ. The elements of `to` are then in the memory of
/// the queue's executor. From host memory they go there directly, as do elements on this executor or on another one
/// whose memory it reaches; from other devices they go through the host. Throws InvalidArgument if the shapes differ.
template <MatrixLike X, class Z>
requires requires(Z&& to) { to.writable(); }
void copy(Z&& to, const X& from, ExecutionQueue& queue) {
  detail::copy(from.view().operand(), to.writable().operand(), queue);
}

/// Enqueues to := from, with the elements of `to` in host memory, and converts them if the types differ. Where `from`
/// is not on the queue's executor, the copy is done when the call returns. Throws InvalidArgument if the shapes differ.
template <MatrixLike X, class Z>
requires requires(Z&& to) { to.writable(); }
void copy_to_host(Z&& to, const X& from, ExecutionQueue& queue) {
  detail::copy_to_host(from.view().operand(), to.writable().operand(), queue);
}

/// Enqueues a copy to the queue's executor of the whole matrix that x is a view of, unless its elements are there
/// already.
template <MatrixLike X>
void prefetch(const X& x, ExecutionQueue& queue) {
  detail::prefetch(x.view().operand(), queue);
}

/// Enqueues a copy to host memory of the whole matrix that x is a view of, unless its newest elements are there
/// already. Reading an element waits for it. Where the newest elements are on another executor, the copy is done when
/// the call returns.
template <MatrixLike X>
void prefetch_to_host(const X& x, ExecutionQueue& queue) {
  detail::prefetch_to_host(x.view().operand(), queue);
}

/// Enqueues C := alpha·A·B + beta·C with the bits of gemm() without a queue. C stays on the queue's executor.
/// options.backend is Backend::Auto or the queue's own, else InvalidArgument is thrown.
template <MatrixLike A, MatrixLike B, class C>
requires requires(C&& c) { c.writable(); }
void gemm(ExecutionQueue& queue, Scalar<typename A::value_type> alpha, const A& a, const B& b,
          Scalar<typename A::value_type> beta, C&& c, const GemmOptions& options = {}) {
  using R = typename std::remove_cvref_t<C>::value_type;
  static_assert(std::same_as<typename A::value_type, typename B::value_type>, "gemm: a and b differ in element type");
  static_assert(ResultOf<R, typename A::value_type>,
                "gemm: c has the type of a and b, or they have 16 bits and it is float, or the other way round");
  detail::gemm(queue, detail::exact_double(alpha), a.view().operand(), b.view().operand(), detail::exact_double(beta),
               c.writable().operand(), options);
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
