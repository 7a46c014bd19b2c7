#pragma once

/// One kernel of a ladder, and the call that it runs. A rung is a textbook kernel with a file of its own.
///
/// Source: oneDNN's ordered implementation lists, where each entry has a name and can say why it declined.

#include <string>

#include <tessera/backend/gemm_shape.hpp>
#include <tessera/detail/by_name.hpp>
#include <tessera/detail/forward.hpp>
#include <tessera/epilogue.hpp>
#include <tessera/status.hpp>
#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

struct Capabilities;

/// What the calls of real and of complex products have in common; Factor is the type of alpha and beta.
///
/// C := alpha · op(A) · op(B) + beta · C, row-major. op(A) is m×k, op(B) is k×n, C is m×n. `lda`, `ldb` and `ldc` count
/// elements from one stored row to the next: lda is at least k, or at least m if A is transposed; ldb at least n, or at
/// least k if B is transposed; ldc at least n. Pointers are memory of the executor that runs the call; the executor
/// owns none of them. alpha and beta are exact in `type`.
///
/// A list that initialises a call names the members, in inner braces: `GemmCall{{.type = DType::F64, .m = 2, .n = 3}}`.
template <class Factor>
struct ProductCall {
  /// Keeps lists without names from compiling.
  [[no_unique_address]] detail::ByName<ProductCall> by_name = detail::ByName<ProductCall>{};
  DType type = DType::F32;  ///< type of A and B; of a complex product, type of the real and imaginary parts
  Math math = Math::Strict; ///< how the product may round
  Op op_a = Op::None;       ///< how A is read
  Op op_b = Op::None;       ///< how B is read
  Index m = 0;              ///< rows of op(A) and C
  Index n = 0;              ///< columns of op(B) and C
  Index k = 0;              ///< columns of op(A) and rows of op(B)
  Factor alpha = 1.0;       ///< factor of the product
  const void* a = nullptr;  ///< the first stored element of A
  Index lda = 0;            ///< elements from one stored row of A to the next
  const void* b = nullptr;  ///< the first stored element of B
  Index ldb = 0;            ///< elements from one stored row of B to the next
  Factor beta = 0.0;        ///< factor of C as it was; 0: C is not read
  void* c = nullptr;        ///< the first element of C
  Index ldc = 0;            ///< elements from one row of C to the next
  int threads = 0;          ///< threads that this call may use; 0: as many as the executor was made with

  /// Returns m, n and k.
  constexpr GemmShape shape() const noexcept { return {.m = m, .n = n, .k = k}; }
};

/// A product of real numbers. If `type` has 16 bits, everything is computed in f32, alpha and beta are exact in f32,
/// and each element is rounded to `result` once, at the end.
struct GemmCall : ProductCall<double> {
  DType result = type;    ///< type of C: `type`, or f32 if `type` has 16 bits, or a 16-bit type if `type` is f32
  Epilogue epilogue = {}; ///< is applied to the elements before they are stored
};

/// Does the product end with alpha and beta and one rounding to the operands' precision? That is, it has no epilogue
/// and is no f32 product with a 16-bit result.
inline bool is_plain_product(const GemmCall& call) noexcept {
  return call.epilogue.empty() && !(call.type == DType::F32 && is_16_bit(call.result));
}

/// The order in which a kernel adds. The values are part of the plug-in ABI: new ones are added at the end.
enum class Summation : int {
  Canonical = 0,    ///< segments of canonical_segment k, one FMA chain each, added in order; see docs/contract.md
  Other = 1,        ///< any other order
  HopperUnits = 2,  ///< the contract of the modes of matrix units for Hopper's; see docs/contract.md
  WholeNumbers = 3, ///< exact sums of whole numbers, rounded once: the contract of Math::Int8Units
};

/// Do the operands, alpha, beta and the mode decide the bits of a kernel that adds in this order? Then docs/contract.md
/// says which bits these are.
constexpr bool has_contract(Summation summation) noexcept { return summation != Summation::Other; }

/// Does a kernel that adds in this order keep another contract of bits than that of Math::Strict?
constexpr bool has_contract_of_mode(Summation summation) noexcept {
  return has_contract(summation) && summation != Summation::Canonical;
}

/// The precision in which products are added. The accumulator and the math mode decide the error bound.
enum class Accumulator : int {
  Native = 0,     ///< the element type (f32 for 16-bit ones), rounded to nearest
  Wider = 1,      ///< at least twice the element type's precision, rounded once at the end
  Truncating = 2, ///< the precision of Native, rounded towards zero (tensor cores)
};

/// k per segment of a strict sum. Part of the numerical contract: changing it changes bits.
inline constexpr Index canonical_segment = 1024;

/// A level of Strassen's recursion halves m, n and k, and none of them may become smaller than this.
inline constexpr Index least_strassen_size = 256;
/// The most levels of Strassen's recursion. A level multiplies the error bound by about three.
inline constexpr int most_strassen_levels = 3;

/// Returns how many levels of Strassen's recursion the mode Math::Strassen allows for these sizes. Its error bound
/// follows from this number (docs/strassen.md), so that a kernel makes as many levels or fewer. The recursion halves
/// the largest multiples of 2^levels; a kernel adds the rest of m, n and k by conventional products.
constexpr int strassen_levels(Index m, Index n, Index k) noexcept {
  int levels = 0;
  for (Index least = 2 * least_strassen_size; levels < most_strassen_levels && m >= least && n >= least && k >= least;
       least *= 2)
    ++levels;
  return levels;
}

/// Returns how large a sum on the way to an element of C may become, in units of k·max|A|·max|B|: 1 for conventional
/// products. Sums of whole numbers are exact as long as the type holds whole numbers of this size.
constexpr double growth_of_sums(Math math, Index m, Index n, Index k) noexcept {
  double growth = 1;
  if (math == Math::Strassen)
    for (int level = strassen_levels(m, n, k); level > 0; --level) growth *= 6;
  return growth;
}

/// The block of C and the slice of k that a kernel computes at once; for display.
struct Tile {
  int m = 0; ///< rows of C
  int n = 0; ///< columns of C
  int k = 0; ///< columns of op(A) that are read at once
};

/// The work of one product by a kernel's own count, which follows from its algorithm and its tile sizes. Caches do not
/// enter into it. traffic.hpp has the counts that kernels share.
struct GemmTraffic {
  /// Floating-point operations at the pace of multiply-adds, which are two each. An instruction that only adds takes
  /// the place of a multiply-add and counts as two.
  double operations = 0;
  double accesses = 0; ///< elements that the kernel loads from global memory and stores there
  double bytes = 0;    ///< moved by the accesses, where nothing that one of them brought serves another
};

/// One GEMM kernel for one math mode and one type of operands. A kernel of a 16-bit type takes results of its own type
/// and of f32, or rejects one of them with a reason.
///
/// `reject` returns nullptr, or a constant string that says why this kernel cannot take the call. `run` may assume that
/// the call was validated, that `reject` returned nullptr, and that m, n, k > 0 and alpha ≠ 0, because the executor
/// handles the other cases. It must handle all m, n, k, leading dimensions and beta that are left. With beta = 0 it
/// never reads C. It returns when the work is enqueued (CUDA) or done (CPU), and it throws nothing. The executor calls
/// it in the floating-point state of docs/contract.md; threads that a kernel keeps for later calls have to set that
/// state anew.
struct GemmKernel {
  const char* name = "";                         ///< what users call the kernel, as in GemmOptions::kernel
  const char* summary = "";                      ///< one line on the idea
  const char* source = "";                       ///< where the idea was published
  DType type = DType::F32;                       ///< type of the operands
  Math math = Math::Strict;                      ///< the mode that the kernel computes in
  Tile tile = {};                                ///< what the kernel computes at once
  Summation summation = Summation::Other;        ///< the order in which it adds
  Accumulator accumulator = Accumulator::Native; ///< the precision in which it adds
  /// Returns null if the kernel takes the call, or a constant line that says why not.
  const char* (*reject)(const GemmKernel& kernel, const GemmCall& call, const Capabilities& machine) noexcept = nullptr;
  /// Computes the product.
  Status (*run)(const GemmKernel& kernel, Executor& executor, Queue& queue, const GemmCall& call) noexcept = nullptr;
  const void* context = nullptr; ///< for kernels made at run time (a library opened with dlopen)
  bool yardstick = false;        ///< the ladder is compared with it; it is only run by name
  bool epilogue = false;         ///< applies the call's epilogue; otherwise the executor does, in a pass over C
  bool narrows = false;          ///< a kernel of f32 that also gives 16-bit results
  /// Counts the work of a call. nullptr: the kernel has no count of its own.
  GemmTraffic (*traffic)(const GemmKernel& kernel, const GemmCall& call) noexcept = nullptr;
};

/// The operands of a call with their C++ types, for kernels: op(A) and op(B) of T, C of R.
template <class T, class R = T>
struct GemmOperands {
  Index m;         ///< rows of op(A) and C
  Index n;         ///< columns of op(B) and C
  Index k;         ///< columns of op(A) and rows of op(B)
  const T* a;      ///< the first stored element of A
  Index lda;       ///< elements from one stored row of A to the next
  Op op_a;         ///< how A is read
  const T* b;      ///< the first stored element of B
  Index ldb;       ///< elements from one stored row of B to the next
  Op op_b;         ///< how B is read
  R* c;            ///< the first element of C
  Index ldc;       ///< elements from one row of C to the next
  Scalar<T> alpha; ///< factor of the product
  Scalar<T> beta;  ///< factor of C as it was; 0: C is not read

  /// Reads the operands of a call, whose types must be T and R.
  explicit GemmOperands(const GemmCall& call)
      : m(call.m),
        n(call.n),
        k(call.k),
        a(static_cast<const T*>(call.a)),
        lda(call.lda),
        op_a(call.op_a),
        b(static_cast<const T*>(call.b)),
        ldb(call.ldb),
        op_b(call.op_b),
        c(static_cast<R*>(call.c)),
        ldc(call.ldc),
        alpha(static_cast<Scalar<T>>(call.alpha)),
        beta(static_cast<Scalar<T>>(call.beta)) {}

  /// Returns element (i, p) of op(A).
  const T& at_a(Index i, Index p) const { return op_a == Op::None ? a[i * lda + p] : a[p * lda + i]; }
  /// Returns element (p, j) of op(B).
  const T& at_b(Index p, Index j) const { return op_b == Op::None ? b[p * ldb + j] : b[j * ldb + p]; }
};

/// What a reduction computes of the elements x. The values are part of the plug-in ABI.
enum class ReduceOp : int {
  SumOfSquares = 0, ///< Σx²
  SumAbs = 1,       ///< Σ|x|
  MaxAbs = 2,       ///< the largest |x|
};

/// The DType of what a reduction reads as T: an element type, or whole numbers.
template <class T>
inline constexpr DType reduced_dtype_of = dtype_of<T>;
template <>
inline constexpr DType reduced_dtype_of<std::int32_t> = DType::I32;

/// A reduction over all elements of a row-major matrix in the executor's memory, in double precision. Σx² is the only
/// reduction of whole numbers (I32); it is exact in any order of additions: every kernel of it keeps the contract. A
/// sum of 2⁶³ or more is InvalidArgument on every kernel.
struct ReduceCall {
  ReduceOp op = ReduceOp::SumOfSquares; ///< what is computed
  DType type = DType::F32;              ///< type of the elements, or I32
  Index rows = 0;                       ///< rows of the matrix
  Index cols = 0;                       ///< columns of the matrix
  const void* x = nullptr;              ///< the first element
  Index ldx = 0;                        ///< elements from one row to the next
  int threads = 0;                      ///< threads to use; 0: as many as the executor was made with
};

/// The result of a reduction. `device_seconds` is the time by the device's clock, 0 where it has none.
struct ReduceResult {
  double value = 0.0;          ///< the sum or the maximum; of whole numbers `whole`, rounded
  double device_seconds = 0.0; ///< the kernel's time by the device's clock
  std::int64_t whole = 0;      ///< Σx² of whole numbers, exact; of other types 0
};

/// One reduction kernel. GemmKernel says what `reject` and `run` must do; here `run` returns when `result` is complete.
struct ReduceKernel {
  const char* name = "";                  ///< what users call the kernel
  const char* summary = "";               ///< one line on the idea
  const char* source = "";                ///< where the idea was published
  ReduceOp op = ReduceOp::SumOfSquares;   ///< what the kernel computes
  DType type = DType::F32;                ///< type of the elements
  Summation summation = Summation::Other; ///< the order in which it adds
  /// Returns null if the kernel takes the call, or a constant line that says why not.
  const char* (*reject)(const ReduceKernel& kernel, const ReduceCall& call,
                        const Capabilities& machine) noexcept = nullptr;
  /// Computes the reduction.
  Status (*run)(const ReduceKernel& kernel, Executor& executor, Queue& queue, const ReduceCall& call,
                ReduceResult& result) noexcept = nullptr;
};

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
