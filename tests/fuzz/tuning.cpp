/// Reads the input as a tuning table.

#include <tessera/performance/tuning.hpp>
#include <tessera/status.hpp>

#include "input_file.hpp"

TESSERA_FUZZ_TARGET(tuning) {
  const tessera::fuzz::InputFile file(data, size);
  try {
    for (const tessera::TunedProduct& product : tessera::load_tuning(file.path()).products)
      tessera::fuzz::require(product.m > 0 && product.n > 0 && product.k > 0, "a product without elements");
  } catch (const tessera::IoError&) {
    return; // a clear refusal
  }
}
