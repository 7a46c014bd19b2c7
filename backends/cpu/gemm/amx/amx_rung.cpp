#include "amx_rung.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <string_view>

#include <tessera/backend/log.hpp>
#include <tessera/backend/out_of_memory.hpp>

#include "cpu/device/isa.hpp"
#include "cpu/gemm/common/update.hpp"

namespace tessera::cpu::amx {

const char* reject(const GemmKernel&, const GemmCall&, const Capabilities& machine) noexcept {
  if (const char* why = why_no_amx()) return why;
  if (std::string_view(machine.instruction_set) != to_string(Isa::Avx512))
    return "TESSERA_CPU_ISA leaves AMX out; unset it, or use math mode strict";
  return nullptr;
}

void store_f32(const GemmCall& call, Index i, Index j, Index rows, Index cols, const float* sums, Index ld) {
  float* const c = static_cast<float*>(call.c) + i * call.ldc + j;
  if (stores_plain_sums(call)) {
    for (Index row = 0; row < rows; ++row) std::copy_n(sums + row * ld, cols, c + row * call.ldc);
    return;
  }
  const Update<float> whole{.first = true,
                            .last = true,
                            .alpha = static_cast<float>(call.alpha),
                            .beta = static_cast<float>(call.beta),
                            .call = &call};
  apply(whole, rows, cols, sums, ld, nullptr, 0, c, call.ldc);
}

Status run(Executor& executor, Queue& queue, const GemmCall& call, const Method& method, Store store,
           const GemmKernel& strict) noexcept try {
  bool has_stored = false;
  {
    AmxProduct product(cpu_of(executor), call, method, store);
    if (product.run()) return {};
    has_stored = product.has_stored();
  }
  if (log_dispatch())
    log_line(std::string("AMX's tiles cannot hold all of the operands' numbers: ") + strict.name + " instead");
  GemmCall exact = call;
  exact.math = Math::Strict;
  Status status = strict.run(strict, executor, queue, exact);
  if (status.ok() || !has_stored) return status;
  return {StatusCode::DeviceError, status.why + "; parts of C were written already"};
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

} // namespace tessera::cpu::amx
