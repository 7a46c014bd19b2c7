/// Products whose k comes in parts.

#include <tessera/running_sums.hpp>

#include <algorithm>
#include <new>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>

#include "executor_memory.hpp"
#include "summation_order.hpp"

namespace tessera {
namespace {

Status refusal(StatusCode code, std::string why) { return Status::failure(code, "running sums: " + std::move(why)); }

/// Returns the product whose result the sums are.
GemmCall product_of(const GemmCall& call, const RunningSums& sums) {
  GemmCall product = call;
  product.alpha = 1;
  product.beta = sums.empty ? 0 : 1;
  product.c = sums.data;
  product.ldc = sums.ld;
  product.result = scalar_of(call.type);
  product.epilogue = {};
  return product;
}

/// Checks the arguments of a product whose result the sums are.
Status check_product(const GemmCall& product) {
  Status status = check_gemm(product);
  if (!status.ok()) status.why = "running sums, which take the place of c: " + status.why;
  return status;
}

/// Refuses a kernel that is named and adds in another order than the contract's.
Status check_named_kernel(const Executor& executor, const GemmCall& call, std::string_view kernel) {
  if (detail::adds_in_own_order(executor, call, kernel))
    return refusal(StatusCode::Rejected, "kernel '" + std::string(kernel) +
                                             "' adds in an order of its own, which a later part cannot continue; name "
                                             "a kernel that keeps the contract, or none");
  return {};
}

/// Returns the address of op(A)'s column, or op(B)'s row, number `k`.
const void* from(const void* x, Index ld, bool along_rows, Index k, DType type) {
  const Index elements = along_rows ? k : k * ld;
  return static_cast<const char*>(x) + elements * static_cast<Index>(size_of(type));
}

/// Returns the part of the product that begins at `first` and has at most one segment.
GemmCall segment_of(const GemmCall& product, Index first) {
  GemmCall segment = product;
  segment.k = std::min(canonical_segment, product.k - first);
  segment.a = from(product.a, product.lda, product.op_a == Op::None, first, product.type);
  segment.b = from(product.b, product.ldb, product.op_b == Op::Transpose, first, product.type);
  return segment;
}

/// Checks the arguments of finish_product() as a product without k, once with C and once with the sums in its place.
Status check_finish(const GemmCall& call, const RunningSums& sums) {
  GemmCall product = call;
  product.math = Math::Strict;
  product.op_a = product.op_b = Op::None;
  product.a = product.b = nullptr;
  product.k = 0;
  product.lda = 1;
  product.ldb = std::max<Index>(call.n, 1);
  if (Status status = check_gemm(product); !status.ok()) return status;
  if (sums.empty) return {};
  if (Status status = check_product(product_of(product, sums)); !status.ok()) return status;
  const StoredRows c{call.c, call.m, call.n, call.ldc, size_of(call.result)};
  if (overlap({sums.data, call.m, call.n, sums.ld, size_of(scalar_of(call.type))}, c))
    return refusal(StatusCode::InvalidArgument, "they overlap c in memory, and are still needed when c is written");
  return {};
}

/// Computes z := alpha·sums + beta·z for a z of the sums' type.
Status combine(Executor& executor, Queue& queue, const GemmCall& call, const RunningSums& sums, void* z, Index ldz) {
  return executor.map(queue, {.op = call.beta == 0 ? MapOp::Scale : MapOp::Axpby,
                              .type = scalar_of(call.type),
                              .rows = call.m,
                              .cols = call.n,
                              .alpha = call.alpha,
                              .beta = call.beta,
                              .x = sums.data,
                              .ldx = sums.ld,
                              .y = z,
                              .ldy = ldz,
                              .z = z,
                              .ldz = ldz,
                              .threads = call.threads});
}

/// Computes C := epilogue(scale·x), rounded once to C's type, for an x of the sums' type.
Status round_to_c(Executor& executor, Queue& queue, const GemmCall& call, double scale, const void* x, Index ldx) {
  return executor.finish(queue, {.type = scalar_of(call.type),
                                 .rows = call.m,
                                 .cols = call.n,
                                 .scale = scale,
                                 .x_type = scalar_of(call.type),
                                 .x = x,
                                 .ldx = ldx,
                                 .z_type = call.result,
                                 .z = call.c,
                                 .ldz = call.ldc,
                                 .epilogue = call.epilogue,
                                 .threads = call.threads});
}

/// Finishes a product whose C has 16 bits and is read: a copy of C in the sums' type takes their part.
Status finish_by_copy(Executor& executor, Queue& queue, const GemmCall& call, const RunningSums& sums) {
  const DType type = scalar_of(call.type);
  const Index ld = call.n;
  detail::ExecutorMemory copy(executor);
  if (Status status =
          copy.allocate_for(queue, static_cast<std::size_t>(call.m) * static_cast<std::size_t>(ld) * size_of(type));
      !status.ok())
    return status;
  if (Status status = executor.map(queue, {.op = MapOp::Convert,
                                           .type = type,
                                           .rows = call.m,
                                           .cols = call.n,
                                           .x = call.c,
                                           .ldx = call.ldc,
                                           .z = copy.data(),
                                           .ldz = ld,
                                           .threads = call.threads,
                                           .x_type = call.result});
      !status.ok())
    return status;
  if (Status status = combine(executor, queue, call, sums, copy.data(), ld); !status.ok()) return status;
  return round_to_c(executor, queue, call, 1, copy.data(), ld);
}

} // namespace

Status add_segments(Executor& executor, Queue& queue, const GemmCall& call, RunningSums& sums,
                    std::string_view kernel) noexcept try {
  if (call.math != Math::Strict)
    return refusal(StatusCode::InvalidArgument,
                   "math mode " + std::string(to_string(call.math)) + " promises no order of sums; use strict");
  GemmCall product = product_of(call, sums);
  if (Status status = check_product(product); !status.ok()) return status;
  if (Status status = check_named_kernel(executor, product, kernel); !status.ok()) return status;
  if (product.m == 0 || product.n == 0 || product.k == 0) return {};
  for (Index first = 0; first < product.k; first += canonical_segment) {
    if (Status status = executor.gemm(queue, segment_of(product, first), kernel); !status.ok()) return status;
    product.beta = 1;
    sums.empty = false;
  }
  return {};
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

Status finish_product(Executor& executor, Queue& queue, const GemmCall& call, const RunningSums& sums) noexcept try {
  const detail::ContractArithmetic contract;
  if (Status status = check_finish(call, sums); !status.ok()) return status;
  if (call.m == 0 || call.n == 0) return {};
  if (sums.empty || call.alpha == 0) return executor.scale_result(queue, call);
  const bool narrow = call.result != scalar_of(call.type);
  if (call.beta == 0 && (narrow || !call.epilogue.empty()))
    return round_to_c(executor, queue, call, call.alpha, sums.data, sums.ld);
  if (narrow) return finish_by_copy(executor, queue, call, sums);
  if (Status status = combine(executor, queue, call, sums, call.c, call.ldc); !status.ok()) return status;
  return call.epilogue.empty() ? Status{} : round_to_c(executor, queue, call, 1, call.c, call.ldc);
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

} // namespace tessera
