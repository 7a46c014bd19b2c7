#pragma once

/// What the counting adapter leaves in C, for the program that reads it.

namespace tessera::lessons {

/// Numbers of one call. All are doubles, because they travel in a C of f64.
struct Counts {
  double loads = 0; ///< of memory, without local variables
  double stores = 0;
  double copies = 0;          ///< stores outside of C
  double misses = 0;          ///< lines that the model of a cache did not hold
  double strays = 0;          ///< accesses near an operand that are none of its elements
  double stray_operand = 0;   ///< of the first: 0 is A, 1 is B, 2 is C
  double stray_store = 0;     ///< 1: it was a store
  double stray_offset = 0;    ///< elements from the operand's first one
  double longest_product = 0; ///< of factors: terms
  double in_products = 0;     ///< of factors: multiply-adds
  double stray_place = 0;     ///< of the instruction, in bytes from the library's start
};

} // namespace tessera::lessons
