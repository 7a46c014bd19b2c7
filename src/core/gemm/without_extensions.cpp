/// What a build of the core alone does where an extension would take over.

#include "beyond_memory.hpp"
#include "verified.hpp"

namespace tessera::detail {

void gemm_beyond_memory(std::span<Executor* const>, double, const Operand&, const Operand&, double, const Operand&,
                        const GemmOptions&, const EpilogueOperands&) {
  throw OutOfMemory(
      "gemm: the device has no memory for all operands, and this build has no products in parts; configure "
      "it with -DTESSERA_EXTENSIONS=ON");
}

namespace {
[[noreturn]] void refuse_to_verify() {
  throw KernelRejected(
      "gemm: options.verify is set, but this build has no checks of results; configure it with "
      "-DTESSERA_EXTENSIONS=ON");
}
} // namespace

void gemm_verified(Executor&, const GemmCall&, const GemmOptions&, const ResultPlace&) { refuse_to_verify(); }
void gemm_verified(Executor&, const ComplexGemmCall&, const GemmOptions&) { refuse_to_verify(); }

} // namespace tessera::detail
