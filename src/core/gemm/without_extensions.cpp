/// What a build of the core alone does with a product that a device's memory does not hold.

#include "beyond_memory.hpp"

namespace tessera::detail {

void gemm_beyond_memory(std::span<Executor* const>, double, const Operand&, const Operand&, double, const Operand&,
                        const GemmOptions&, const EpilogueOperands&) {
  throw OutOfMemory(
      "gemm: the device has no memory for all operands, and this build has no products in parts; configure "
      "it with -DTESSERA_EXTENSIONS=ON");
}

} // namespace tessera::detail
