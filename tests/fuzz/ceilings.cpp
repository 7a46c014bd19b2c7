/// Reads the input as the file of measured ceilings.

#include "common/ceiling_file.hpp"
#include "input_file.hpp"

TESSERA_FUZZ_TARGET(ceilings) {
  const tessera::fuzz::InputFile file(data, size);
  try {
    for (const tessera::apps::CeilingEntry& entry : tessera::apps::load_ceilings(file.path(), {{"cpu", "x"}}))
      tessera::fuzz::require(entry.flops >= 0 && entry.bytes_per_second >= 0, "a negative ceiling");
  } catch (const tessera::apps::CeilingFileError&) {
    return; // a clear refusal
  }
}
