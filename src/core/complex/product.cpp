/// Computes a complex product by real products of scratch memory; complex.hpp says in which order it adds.

#include <algorithm>
#include <new>

#include <tessera/backend/log.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/backend/stored_product.hpp>
#include <tessera/complex.hpp>
#include <tessera/detail/floating_point.hpp>

#include "blocks.hpp"
#include "core/base/partly_written.hpp"
#include "scratch.hpp"
#include "steps.hpp"

namespace tessera {
namespace {

using detail::choose_complex_blocks;
using detail::ComplexBlocks;
using detail::ComplexSteps;
using detail::ResultPlace;
using detail::scratch_ld;

std::size_t scratch_limit(const ComplexGemmCall& call, const Capabilities& machine) {
  if (call.scratch != 0) return call.scratch;
  return std::size_t{machine.host_memory ? 64u : 256u} << 20;
}

std::string describe(const ComplexGemmCall& call) {
  return "complex gemm of " + std::string(to_string(call.type)) + " parts m=" + std::to_string(call.m) +
         " n=" + std::to_string(call.n) + " k=" + std::to_string(call.k);
}

class ComplexProduct {
 public:
  ComplexProduct(ComplexSteps& steps, const ComplexGemmCall& call)
      : steps_(steps), call_(call), number_(static_cast<Index>(2 * size_of(call.type))), scratch_(steps.executor()) {}

  Status run();

 private:
  /// A block of C and a slice of k: where they begin, and how large they are.
  struct Block {
    Index i, j, p;
    ComplexBlocks size;
  };

  Status reserve();
  Status scale_result();
  Status multiply_blocks();
  Status multiply_block(const Block& block);
  Status expand_b(const Block& block);
  Status copy_a(const Block& block);
  Status multiply_reals(const Block& block);
  Status combine(std::complex<double> alpha, const void* x, Index ldx, std::complex<double> beta, const Block& block);
  GemmCall real_call() const;
  MapCall map_call(MapOp op, Index rows, Index cols) const;

  const char* at(const void* matrix, Index ld, Index row, Index col) const {
    return static_cast<const char*>(matrix) + (row * ld + col) * number_;
  }
  char* c_at(const Block& block) const {
    return static_cast<char*>(call_.c) + (block.i * call_.ldc + block.j) * number_;
  }
  static ResultPlace place(const Block& block) { return {block.i, block.j, 2}; }

  ComplexSteps& steps_;
  const ComplexGemmCall& call_;
  Index number_; ///< bytes of a complex number
  detail::ComplexScratch scratch_;
  ComplexBlocks blocks_;
  char* b_ = nullptr; ///< expanded
  char* a_ = nullptr; ///< by rows
  char* sums_ = nullptr;
  Index b_j_ = -1, b_p_ = -1; ///< the parts of B and A that b_ and a_ hold now
  Index a_i_ = -1, a_p_ = -1;
  bool wrote_c_ = false;
};

Status ComplexProduct::run() {
  if (call_.m == 0 || call_.n == 0 || call_.k == 0 || call_.alpha == 0.0) return scale_result();
  if (Status status = reserve(); !status.ok()) return status;
  b_ = scratch_.data();
  a_ = b_ + blocks_.b(call_);
  sums_ = a_ + blocks_.a(call_);
  Status status = multiply_blocks();
  return wrote_c_ ? detail::partly_written(status) : status;
}

/// Reserves scratch memory, and less where the executor has less left: smaller blocks give the bits of larger ones.
Status ComplexProduct::reserve() {
  constexpr std::size_t least = std::size_t{1} << 20;
  Status status;
  for (std::size_t limit = scratch_limit(call_, steps_.executor().capabilities());; limit /= 2) {
    blocks_ = choose_complex_blocks(call_, limit);
    status = scratch_.allocate(steps_.queue(), blocks_.bytes(call_));
    if (status.code != StatusCode::OutOfMemory || limit / 2 < least) break;
  }
  if (status.ok() && log_dispatch())
    log_line(describe(call_) + ": real products of " + std::to_string(blocks_.m) + "×" + std::to_string(2 * blocks_.n) +
             " with k = " + std::to_string(2 * blocks_.k));
  return status;
}

/// Sets C := beta·C where there is no product to add. A real product does it, which also checks the kernel's name. A C
/// without elements may have any sizes, also such that cannot be doubled.
Status ComplexProduct::scale_result() {
  const bool empty = call_.m == 0 || call_.n == 0;
  GemmCall real = real_call();
  real.k = 0;
  real.a = real.b = nullptr;
  real.n = empty ? 0 : 2 * call_.n;
  real.m = call_.beta.imag() == 0.0 && !empty ? call_.m : 0;
  real.beta = call_.beta.real();
  real.lda = real.ldb = std::max<Index>(1, real.n);
  real.c = call_.c;
  real.ldc = empty ? 1 : 2 * call_.ldc;
  Status status = steps_.multiply(real, place({}));
  if (!status.ok() || empty || real.m == call_.m) return status;
  return combine(call_.beta, call_.c, call_.ldc, 0.0, {0, 0, 0, {call_.m, call_.n, 0}});
}

Status ComplexProduct::multiply_blocks() {
  Block block{};
  for (block.j = 0; block.j < call_.n; block.j += blocks_.n)
    for (block.i = 0; block.i < call_.m; block.i += blocks_.m) {
      block.size.n = std::min(blocks_.n, call_.n - block.j);
      block.size.m = std::min(blocks_.m, call_.m - block.i);
      for (block.p = 0; block.p < call_.k; block.p += blocks_.k) {
        block.size.k = std::min(blocks_.k, call_.k - block.p);
        if (Status status = multiply_block(block); !status.ok()) return status;
      }
      if (!blocks_.keeps_sums(call_)) continue;
      const Index ld = scratch_ld(blocks_.n, call_.type);
      if (Status status = combine(call_.alpha, sums_, ld, call_.beta, block); !status.ok()) return status;
      wrote_c_ = true;
    }
  return {};
}

Status ComplexProduct::multiply_block(const Block& block) {
  if (Status status = expand_b(block); !status.ok()) return status;
  if (call_.op_a != Op::None)
    if (Status status = copy_a(block); !status.ok()) return status;
  return multiply_reals(block);
}

Status ComplexProduct::expand_b(const Block& block) {
  if (block.j == b_j_ && block.p == b_p_) return {};
  MapCall map = map_call(MapOp::ExpandComplex, block.size.k, block.size.n);
  map.op_x = call_.op_b;
  map.x = call_.op_b == Op::None ? at(call_.b, call_.ldb, block.p, block.j) : at(call_.b, call_.ldb, block.j, block.p);
  map.ldx = call_.ldb;
  map.z = b_;
  map.ldz = scratch_ld(blocks_.n, call_.type);
  b_j_ = block.j;
  b_p_ = block.p;
  return steps_.map(map, place(block));
}

Status ComplexProduct::copy_a(const Block& block) {
  if (block.i == a_i_ && block.p == a_p_) return {};
  MapCall map = map_call(MapOp::CopyComplex, block.size.m, block.size.k);
  map.op_x = call_.op_a;
  map.x = at(call_.a, call_.lda, block.p, block.i);
  map.ldx = call_.lda;
  map.z = a_;
  map.ldz = scratch_ld(blocks_.k, call_.type);
  a_i_ = block.i;
  a_p_ = block.p;
  return steps_.map(map, place(block));
}

/// Multiplies a slice. Where k is one slice and no sums are kept, the real product applies alpha and beta; else the
/// slice is added to the slices before it, as a segment's sum is.
Status ComplexProduct::multiply_reals(const Block& block) {
  const bool keeps_sums = blocks_.keeps_sums(call_);
  GemmCall real = real_call();
  real.m = block.size.m;
  real.n = 2 * block.size.n;
  real.k = 2 * block.size.k;
  real.a = call_.op_a == Op::None ? at(call_.a, call_.lda, block.i, block.p) : a_;
  real.lda = 2 * (call_.op_a == Op::None ? call_.lda : scratch_ld(blocks_.k, call_.type));
  real.b = b_;
  real.ldb = 2 * scratch_ld(blocks_.n, call_.type);
  real.c = keeps_sums ? sums_ : c_at(block);
  real.ldc = 2 * (keeps_sums ? scratch_ld(blocks_.n, call_.type) : call_.ldc);
  if (keeps_sums || blocks_.slices(call_)) {
    real.alpha = 1.0;
    real.beta = block.p == 0 ? 0.0 : 1.0;
  } else {
    real.alpha = call_.alpha.real();
    real.beta = call_.beta.real();
  }
  Status status = steps_.multiply(real, place(block));
  wrote_c_ = wrote_c_ || (status.ok() && !keeps_sums);
  return status;
}

Status ComplexProduct::combine(std::complex<double> alpha, const void* x, Index ldx, std::complex<double> beta,
                               const Block& block) {
  MapCall map = map_call(MapOp::CombineComplex, block.size.m, block.size.n);
  map.alpha = alpha.real();
  map.alpha_imaginary = alpha.imag();
  map.beta = beta.real();
  map.beta_imaginary = beta.imag();
  map.x = x;
  map.ldx = ldx;
  map.y = map.z = c_at(block);
  map.ldy = map.ldz = call_.ldc;
  return steps_.map(map, place(block));
}

GemmCall ComplexProduct::real_call() const {
  GemmCall real;
  real.type = real.result = call_.type;
  real.math = call_.math;
  real.threads = call_.threads;
  return real;
}

MapCall ComplexProduct::map_call(MapOp op, Index rows, Index cols) const {
  MapCall map;
  map.op = op;
  map.type = call_.type;
  map.rows = rows;
  map.cols = cols;
  map.threads = call_.threads;
  return map;
}

/// Tells the log. C is written by then, so that memory that is short costs the line alone.
void log_as_stored(const ComplexGemmCall& call) noexcept try {
  if (log_dispatch()) log_line(describe(call) + ": operands are read as they are stored");
} catch (const std::bad_alloc&) {
  return;
}

/// Lets the backend expand the operands where it packs them. Returns false if it does not; nothing is written then.
bool multiply_as_stored(Executor& executor, Queue& queue, const ComplexGemmCall& call, std::string_view kernel) {
  const bool has_terms = call.m > 0 && call.n > 0 && call.k > 0 && call.alpha != 0.0;
  if (!has_terms || call.math != Math::Strict || call.scratch != 0) return false;
  const auto operand = [](const void* data, Index ld, Op op) {
    return StoredOperand{
        .data = data, .ld = ld, .is_transposed = op != Op::None, .is_conjugate = op == Op::ConjugateTranspose};
  };
  return stored_product(executor, queue,
                        {.type = call.type,
                         .is_complex = true,
                         .m = call.m,
                         .n = call.n,
                         .k = call.k,
                         .alpha = call.alpha,
                         .a = operand(call.a, call.lda, call.op_a),
                         .b = operand(call.b, call.ldb, call.op_b),
                         .beta = call.beta,
                         .c = call.c,
                         .ldc = call.ldc,
                         .threads = call.threads},
                        kernel);
}

} // namespace

Status detail::multiply_by_steps(ComplexSteps& steps, const ComplexGemmCall& call) {
  return ComplexProduct(steps, call).run();
}

Status gemm(Executor& executor, Queue& queue, const ComplexGemmCall& call, std::string_view kernel) noexcept try {
  const detail::ContractArithmetic contract;
  if (Status status = check_gemm(call); !status.ok()) return status;
  if (multiply_as_stored(executor, queue, call, kernel)) {
    log_as_stored(call);
    return {};
  }
  ComplexSteps steps(executor, queue, kernel);
  return detail::multiply_by_steps(steps, call);
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

} // namespace tessera
