/// Complex products of operands in host memory. They run where the operands are, or in a device's memory, in blocks of
/// C if the whole does not fit.

#include <limits>

#include <tessera/backend/log.hpp>
#include <tessera/complex.hpp>
#include <tessera/detail/floating_point.hpp>

#include "blocks.hpp"
#include "core/base/partly_written.hpp"
#include "core/executor/executor_memory.hpp"
#include "core/gemm/verified.hpp"
#include "core/placement/placement.hpp"

namespace tessera::detail {
namespace {

/// Smaller blocks are not tried: copies of short rows are slow, and other programs then fill the device.
constexpr Index smallest_block = 64;

/// A rectangle of complex numbers in host memory, and its copy on a device.
class DeviceCopy {
 public:
  DeviceCopy(Executor& executor, DType parts, const void* host, Index ld, Index rows, Index cols)
      : executor_(executor),
        host_(host),
        number_(2 * size_of(parts)),
        ld_(ld),
        rows_(rows),
        cols_(cols),
        device_ld_(scratch_ld(cols, parts)),
        memory_(executor) {}

  Status allocate() noexcept { return memory_.allocate(static_cast<std::size_t>(rows_) * pitch()); }
  Status copy_in() noexcept {
    return executor_.copy_in(executor_.default_queue(), data(), pitch(), host_, static_cast<std::size_t>(ld_) * number_,
                             static_cast<std::size_t>(cols_) * number_, static_cast<std::size_t>(rows_));
  }
  Status copy_out(void* host) noexcept {
    return executor_.copy_out(executor_.default_queue(), host, static_cast<std::size_t>(ld_) * number_, data(), pitch(),
                              static_cast<std::size_t>(cols_) * number_, static_cast<std::size_t>(rows_));
  }
  void* data() const noexcept { return memory_.data(); }
  Index ld() const noexcept { return device_ld_; }

 private:
  std::size_t pitch() const noexcept { return static_cast<std::size_t>(device_ld_) * number_; }

  Executor& executor_;
  const void* host_;
  std::size_t number_;
  Index ld_, rows_, cols_, device_ld_;
  ExecutorMemory memory_;
};

Status multiply_in_one_piece(Executor& executor, const ComplexGemmCall& call, const GemmOptions& options) {
  const bool flip_a = call.op_a != Op::None, flip_b = call.op_b != Op::None;
  DeviceCopy a(executor, call.type, call.a, call.lda, flip_a ? call.k : call.m, flip_a ? call.m : call.k);
  DeviceCopy b(executor, call.type, call.b, call.ldb, flip_b ? call.n : call.k, flip_b ? call.k : call.n);
  DeviceCopy c(executor, call.type, call.c, call.ldc, call.m, call.n);
  const bool reads_operands = call.alpha != 0.0 && call.k > 0;
  for (DeviceCopy* operand : {&a, &b, &c})
    if (operand == &c || reads_operands)
      if (Status status = operand->allocate(); !status.ok()) return status;
  for (DeviceCopy* operand : {&a, &b, &c})
    if (operand == &c ? call.beta != 0.0 : reads_operands)
      if (Status status = operand->copy_in(); !status.ok()) return status;
  ComplexGemmCall there = call;
  there.a = a.data();
  there.lda = a.ld();
  there.b = b.data();
  there.ldb = b.ld();
  there.c = c.data();
  there.ldc = c.ld();
  if (!reads_operands) there.k = 0;
  if (Status status = gemm(executor, executor.default_queue(), there, options.kernel); !status.ok()) return status;
  return c.copy_out(call.c);
}

/// Computes the product in one piece or, if it does not fit, one half of C after the other in the same way. `written`
/// is set once a part of C is written.
Status multiply_in_halves(Executor& executor, const ComplexGemmCall& call, const GemmOptions& options, bool& written) {
  Status status = multiply_in_one_piece(executor, call, options);
  if (status.ok()) written = true;
  if (status.code != StatusCode::OutOfMemory || std::max(call.m, call.n) < 2 * smallest_block) return status;
  if (log_dispatch())
    log_line("complex operands do not fit into the memory of " + executor.capabilities().device + ": C of " +
             std::to_string(call.m) + "×" + std::to_string(call.n) + " in halves");
  const auto number = static_cast<Index>(2 * size_of(call.type));
  const auto moved = [&](const void* data, Index numbers) {
    return data == nullptr ? nullptr : static_cast<const char*>(data) + numbers * number;
  };
  ComplexGemmCall first = call, second = call;
  if (call.m > call.n) {
    first.m = call.m / 2;
    second.m = call.m - first.m;
    second.a = moved(call.a, first.m * (call.op_a == Op::None ? call.lda : 1));
    second.c = const_cast<char*>(moved(call.c, first.m * call.ldc));
  } else {
    first.n = call.n / 2;
    second.n = call.n - first.n;
    second.b = moved(call.b, first.n * (call.op_b == Op::None ? 1 : call.ldb));
    second.c = const_cast<char*>(moved(call.c, first.n));
  }
  status = multiply_in_halves(executor, first, options, written);
  return status.ok() ? multiply_in_halves(executor, second, options, written) : status;
}

} // namespace

void gemm_raw(const ComplexGemmCall& call, const GemmOptions& options) try {
  const ContractArithmetic contract;
  if (options.verify != Verify::None) return gemm_verified(place_verified(options), call, options);
  // The sizes are not checked yet. The place of a product too large to double does not matter: the check refuses it, or
  // C has no elements.
  const auto doubled = [](Index size) { return size > std::numeric_limits<Index>::max() / 2 ? size : 2 * size; };
  Executor& executor =
      place_gemm(options.backend,
                 {call.type,
                  options.math,
                  {.m = call.m, .n = doubled(std::max<Index>(call.n, 0)), .k = doubled(std::max<Index>(call.k, 0))}},
                 {});
  if (executor.capabilities().host_memory || call.m == 0 || call.n == 0)
    return throw_if_failed(gemm(executor, executor.default_queue(), call, options.kernel));
  throw_if_failed(check_gemm(call));
  bool written = false;
  tell_of_parts_written(written, [&] { throw_if_failed(multiply_in_halves(executor, call, options, written)); });
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera::detail
