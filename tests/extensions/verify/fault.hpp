#pragma once

/// The faults that the plug-in of these tests plants. A test finds the function set_fault() in the loaded plug-in.

#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include <tessera/types.hpp>

namespace tessera::test {

/// What is damaged.
enum class FaultKind : int {
  None = 0,
  ResultBits = 1,     ///< one bit of `count` neighbours in a row of C
  ResultNan = 2,      ///< such elements become NaN
  ResultZero = 3,     ///< such elements become zero, as where a tile is not written
  ResultExchange = 4, ///< an element changes places with the one `count` columns after it
  OperandA = 5,       ///< one bit of an element of the A that the kernel reads; A itself stays
  OperandB = 6,       ///< the same of B
  OperandForGood = 7, ///< one bit of an element of A in memory, before the kernel begins
  Map = 8,            ///< one bit of what an element-wise operation on complex numbers writes; row and col count there
};
inline constexpr int last_fault = 7; ///< of a real product

/// A fault. row and col count in C, or in the operand as it is stored; they are taken modulo its size.
struct Fault {
  FaultKind kind = FaultKind::None;
  Index row = 0;
  Index col = 0;
  Index count = 1;
  int bit = 0;         ///< of the element, from the lowest one
  bool always = false; ///< in every product, also when one is computed again; else in the next product alone
  int core = -1;       ///< where it happens; -1: on every core
};

using SetFault = void (*)(const Fault& fault);

/// Returns the function of the loaded plug-in that plants a fault.
inline SetFault fault_setter(const std::string& plugin) {
  void* const library = dlopen(plugin.c_str(), RTLD_NOW | RTLD_NOLOAD);
  void* const symbol = library == nullptr ? nullptr : dlsym(library, "set_fault");
  if (symbol == nullptr) throw std::runtime_error("the plug-in with faults is not loaded: " + plugin);
  return reinterpret_cast<SetFault>(symbol);
}

} // namespace tessera::test
