#pragma once

/// Triangular systems in an executor's memory, in place.
///
///     Executor& gpu = executor(Backend::Cuda);
///     trsm(gpu, Side::Left, Triangle::Lower, Op::None, Diagonal::Stored, n, count, 1.0, t, ldt, b, ldb); // X over B
///
/// Row-major matrices of f32 or f64 in the memory of the executor, of any allocator whose memory the device reads. The
/// work is enqueued in its default queue, after what was enqueued before; in host memory it is done on return. The bits
/// are the ones of trsm() for host memory (triangular.hpp), which names the arguments too. What must not be changed
/// meanwhile, and other functions of such memory: interop/executor_memory.hpp.
///
/// Errors: InvalidArgument (sizes, leading dimensions, null addresses), OutOfMemory (room for T turned round), and
/// KernelRejected on a device without the steps of factorisations (Capabilities::has_panels).

#include <tessera/executor.hpp>
#include <tessera/linear_algebra/triangular.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {
namespace detail {
/// Enqueues a call whose arguments were checked.
template <class T>
TESSERA_API void triangular_solve_on(Executor& executor, const TriangularCall<T>& call);
} // namespace detail

/// X takes the place of B, m×n, in op(T)·X = alpha·B, or in X·op(T) = alpha·B.
template <class T>
requires detail::Real<T>
void trsm(Executor& executor, Side side, Triangle triangle, Op op, Diagonal diagonal, Index m, Index n,
          std::type_identity_t<T> alpha, const T* t, Index ldt, T* b, Index ldb) {
  detail::triangular_solve_on(
      executor, detail::checked_triangular("trsm", side, triangle, op, diagonal, m, n, alpha, t, ldt, b, ldb));
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
