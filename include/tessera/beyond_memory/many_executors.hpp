#pragma once

/// One product on several executors: the GPUs of a machine, or GPUs and processor.
///
///     std::vector<Executor*> gpus{&executor(Backend::Cuda, 0), &executor(Backend::Cuda, 1)};
///     gemm(gpus, 1.0f, a, b, 0.0f, c);
///
/// A, B and C are in host memory, where C is after the call. C is cut into blocks, and each executor takes one block
/// after the other until none is left, so that a faster executor computes more of them. A device's blocks go through
/// its memory in slices of k, as in a product that does not fit there; an executor of the host multiplies in place. A
/// thread of the host feeds each executor. Kernels that keep the contract give the bits of one executor, whatever the
/// list is.
///
/// Devices of one model that reach one another's memory (GPUs with NVLink, or several executors of one GPU) compute
/// equal parts of C instead: rows, and each device fetches a part of B from the host and the other parts from the
/// others; or columns, and they exchange A.
///
/// Errors: what gemm() throws, and InvalidArgument for a list that is empty, names an executor twice or has null, or
/// where options.backend is not Auto. If an executor fails, the others stop after the slice or block that they are
/// computing, and the error names the executor. After an error C is unchanged, except that a DeviceError leaves it
/// undefined: it says so if parts of C were written.
///
/// Source: cuBLASXt shares out tiles of C to devices; here the sums of an element are never split between them.

#include <span>

#include <tessera/backend.hpp>
#include <tessera/gemm.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

namespace detail {
TESSERA_API void gemm(std::span<Executor* const> executors, double alpha, const Operand& a, const Operand& b,
                      double beta, const Operand& c, const GemmOptions& options);
} // namespace detail

/// Computes C := alpha·A·B + beta·C on all of the executors; transpose A, B and C with .transposed(). No other thread
/// may use the default queues of the executors meanwhile.
template <MatrixLike A, MatrixLike B, class C>
requires requires(C&& c) { c.writable(); }
void gemm(std::span<Executor* const> executors, Scalar<typename A::value_type> alpha, const A& a, const B& b,
          Scalar<typename A::value_type> beta, C&& c, const GemmOptions& options = {}) {
  using R = typename std::remove_cvref_t<C>::value_type;
  static_assert(std::same_as<typename A::value_type, typename B::value_type>, "gemm: a and b differ in element type");
  static_assert(ResultOf<R, typename A::value_type>,
                "gemm: c has the type of a and b, or they have 16 bits and it is float, or the other way round");
  MatrixView<R> target = c.writable();
  detail::gemm(executors, detail::exact_double(alpha), a.view().operand(), b.view().operand(),
               detail::exact_double(beta), target.operand(), options);
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
