#pragma once

/// Do results of one call share elements? Products are computed in any order and at once, so that an element that two
/// of them write would have any value. All entries of batches ask here.
///
/// Results may lie between one another, as blocks of columns of one matrix do, whose ranges of addresses overlap while
/// their elements do not. So ranges only sort out what is surely apart. The rest are rectangles of a plane whose lines
/// are as long as the leading dimension; a line sweeps over them. Source: Shamos and Hoey, "Geometric intersection
/// problems", 1976.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <tessera/batch.hpp>
#include <tessera/detail/export.hpp>

namespace tessera::detail {

/// The bytes that a product writes, or reads: `rows` rows of `width` bytes each, which begin `pitch` bytes apart. They
/// are not empty, and the pitch is at least the width.
struct WrittenRows {
  std::uintptr_t begin = 0; ///< the address of the first byte
  std::uintptr_t width = 0;
  std::uintptr_t pitch = 0;
  std::uintptr_t rows = 1;
  std::size_t product = 0; ///< the caller's number of it
  bool only_read = false;  ///< products may read the same bytes, but none may write what another one reads

  std::uintptr_t end() const { return begin + (rows - 1) * pitch + width; }
  /// Are all bytes from begin to end written?
  bool is_solid() const { return rows == 1 || width == pitch; }
};

/// The numbers of two products of which one writes a byte that the other one writes or reads.
struct SharedResult {
  std::size_t first = 0, second = 0;
};

/// Returns two products of which one writes a byte that the other one writes or reads, or nothing. It sorts the list.
/// It takes n·log n steps for n results, and only where results of different pitches, or results and what is read, lie
/// between one another as many for each row. Throws std::bad_alloc.
TESSERA_API std::optional<SharedResult> find_shared_result(std::span<const WrittenRows> results);

/// A product of a batch: its group, and its place there.
struct ProductPlace {
  std::size_t group = 0;
  Index index = 0;
};

/// Two products of a batch.
struct SharedPlaces {
  ProductPlace first, second;
};

/// Returns two products of checked groups whose results share an element, or nothing. Results that lie in ascending
/// order, as most do, take one comparison each and no memory. Where there is no memory for a list of the others, all
/// pairs are compared.
TESSERA_API std::optional<SharedPlaces> find_shared_result(std::span<const GemmBatch> groups) noexcept;

} // namespace tessera::detail
