#pragma once

/// The part of the campaign that plants errors in honest products and looks whether the check finds them.

#include <optional>
#include <string>
#include <vector>

#include <tessera/types.hpp>

#include "counts.hpp"

namespace tessera::test {

/// A kind of product that errors are planted in.
struct PlantedKind {
  DType type = DType::F32;   ///< of the operands
  DType result = DType::F32; ///< of C
  Math math = Math::Strict;

  bool operator==(const PlantedKind&) const = default;
};

/// Returns the kinds of products that a backend's ladder has kernels for: each mode of each type of operands, with each
/// type of results. Without a backend they are the strict products of f32 and f64.
std::vector<PlantedKind> planted_kinds(std::optional<Backend> backend);

/// Plants `count` single errors, and a tenth as many pairs in one row, in a product of size × size × size that the
/// backend (or else Backend::Auto) computes, and prints what was counted.
Counts plant(std::optional<Backend> backend, const PlantedKind& kind, Index size, Index count);

} // namespace tessera::test
