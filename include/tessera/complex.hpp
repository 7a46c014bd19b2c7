#pragma once

/// Complex products, C := alpha · op(A) · op(B) + beta · C with complex numbers of f32 or f64 parts.
///
///     #include <tessera/complex.hpp>
///     std::vector<std::complex<float>> a(m * k), b(n * k), c(m * n);
///     tessera::gemm(Op::None, Op::ConjugateTranspose, m, n, k, 1.0f, a.data(), k, b.data(), k, 0.0f, c.data(), n);
///
/// Row-major; op(A) is m×k, op(B) k×n, C m×n; leading dimensions count complex numbers between stored rows. For
/// column-major matrices swap A with B and m with n: Cᵀ = op(B)ᵀ·op(A)ᵀ. Cost: 8·m·n·k operations, by every kernel of
/// every backend, because a complex product is computed as a real one; op(B), and op(A) unless it is Op::None, are
/// rewritten in scratch memory. docs/contract.md ("Complex products") has the order of the operations, which is bitwise
/// reproducible. The math modes are the ones of real products, and gemm.hpp lists the errors.
///
/// Source: complex numbers as real 2×2 matrices; Van Zee and Smith: "Implementing high-performance complex matrix
/// multiplication via the 1m method" (2020), which expands while packing.

#include <complex>
#include <concepts>
#include <string_view>
#include <type_traits>

#include <tessera/detail/floating_point.hpp>
#include <tessera/executor.hpp>
#include <tessera/gemm.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// A complex product of operands in an executor's memory. `type` is the type of the real and imaginary parts: F32 or
/// F64.
struct ComplexGemmCall : ProductCall<std::complex<double>> {
  std::size_t scratch = 0; ///< bytes of scratch memory, roughly; 0: 64 MiB on the host, 256 MiB on a device
};

/// Checks what check_gemm() checks of real products: sizes, leading dimensions, null pointers, overflow and aliasing.
TESSERA_API Status check_gemm(const ComplexGemmCall& call);

/// Enqueues the product; `kernel` names a kernel of the ladder for real products of `type`. Scratch memory comes from
/// the executor; of the queues that are being recorded only the default one takes the product, see recording.hpp.
TESSERA_API Status gemm(Executor& executor, Queue& queue, const ComplexGemmCall& call,
                        std::string_view kernel = {}) noexcept;

namespace detail {
TESSERA_API void gemm_raw(const ComplexGemmCall& call, const GemmOptions& options);
}

/// The BLAS form on the caller's row-major host memory. C is complete on return. alpha and beta may be real numbers.
template <std::floating_point T>
requires(std::same_as<T, float> ||
         std::same_as<T, double>) void gemm(Op op_a, Op op_b, Index m, Index n, Index k,
                                            std::type_identity_t<std::complex<T>> alpha, const std::complex<T>* a,
                                            Index lda, const std::complex<T>* b, Index ldb,
                                            std::type_identity_t<std::complex<T>> beta, std::complex<T>* c, Index ldc,
                                            const GemmOptions& options = {}) {
  detail::gemm_raw(ComplexGemmCall{{.type = dtype_of<T>,
                                    .math = options.math,
                                    .op_a = op_a,
                                    .op_b = op_b,
                                    .m = m,
                                    .n = n,
                                    .k = k,
                                    .alpha = detail::exact_double(alpha),
                                    .a = a,
                                    .lda = lda,
                                    .b = b,
                                    .ldb = ldb,
                                    .beta = detail::exact_double(beta),
                                    .c = c,
                                    .ldc = ldc,
                                    .threads = options.threads}},
                   options);
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
