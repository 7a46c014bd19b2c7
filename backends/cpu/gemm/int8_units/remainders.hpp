#pragma once

/// From sums of products of bytes to residues, and from residues to the exact sum (Chinese remainder theorem).

#include <array>
#include <cstdint>

#include <tessera/types.hpp>

namespace tessera::cpu::int8_units {

/// Stores sums modulo `modulus`, from 0 on.
void reduce(const std::int32_t* sums, Index count, int modulus, std::uint8_t* residues);
/// Does the same in place.
void reduce(std::int32_t* sums, Index count, int modulus);

/// Puts the residues of `count` exact sums together, and stores sum[j]·2^exponents[j], rounded once. Residue number l
/// of sum j is residues[l·plane + j].
void put_together(const std::uint8_t* residues, Index plane, Index count, const std::int64_t* exponents, double* sums);

} // namespace tessera::cpu::int8_units
