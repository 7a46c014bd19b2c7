#pragma once

/// tessera_info --health: examines the machine with each instruction set of the processor.

#include <string>

namespace tessera::info_app {

/// Examines the machine for so many seconds, prints the answer, or writes it as JSON where `json` is no empty text ("-"
/// is stdout). Lesser instruction sets run in processes of their own, by TESSERA_CPU_ISA, unless the variable is set.
/// Returns the exit status: 0 for a sound machine, 1 where something differs.
int examine(double seconds, const std::string& json);

} // namespace tessera::info_app
