/// Reads the input as the file of measured ceilings.

#include "common/ceiling_file.hpp"
#include "input_file.hpp"

TESSERA_FUZZ_TARGET(ceilings) {
  const tessera::fuzz::InputFile file(data, size);
  try {
    for (const tessera::apps::CeilingRow& row : tessera::apps::load_ceilings(file.path(), {{"cpu", "x"}}))
      tessera::fuzz::require(row.flops >= 0 && row.bytes_per_second >= 0, "a negative ceiling");
  } catch (const tessera::apps::CeilingFileError&) {
    return; // a clear refusal
  }
}
