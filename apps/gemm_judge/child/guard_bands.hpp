#pragma once

/// The guard bands in front of an operand and after it, and the search for bytes that a kernel has changed in them or
/// in the operand.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "gemm_judge/channel.hpp"

namespace tessera::judge {

/// Returns the bytes of a band that nothing has touched.
inline const std::vector<std::byte>& guard_image() {
  static const std::vector<std::byte> image = [] {
    std::vector<std::byte> bytes(guard_bytes);
    for (std::size_t i = 0; i < bytes.size(); i += sizeof guard_word)
      std::memcpy(&bytes[i], &guard_word, sizeof guard_word);
    return bytes;
  }();
  return image;
}

/// A byte that differs from what it should be.
struct Difference {
  bool unreadable = false; ///< the memory is not there any more
  std::int64_t offset = 0; ///< bytes from the operand's first element, negative in front of it
};

/// Compares the bands around an operand of `bytes` bytes and, if `image` is not null, the operand with `image`. Returns
/// the first difference that it finds. `read(offset, to, bytes)` copies bytes of the memory to `to`, and returns
/// whether they are there; it is asked for at most as many bytes as `chunk` has, where they are compared.
template <class Read>
std::optional<Difference> first_difference(std::size_t bytes, const std::byte* image, std::vector<std::byte>& chunk,
                                           Read&& read) {
  const auto compare = [&](std::int64_t start, const std::byte* expected,
                           std::size_t count) -> std::optional<Difference> {
    for (std::size_t done = 0; done < count; done += chunk.size()) {
      const std::size_t part = std::min(chunk.size(), count - done);
      const std::int64_t offset = start + static_cast<std::int64_t>(done);
      if (!read(offset, chunk.data(), part)) return Difference{true, offset};
      if (std::memcmp(chunk.data(), expected + done, part) == 0) continue;
      const auto at = std::mismatch(chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(part), expected + done);
      return Difference{false, offset + (at.first - chunk.begin())};
    }
    return std::nullopt;
  };
  constexpr auto guard = static_cast<std::int64_t>(guard_bytes);
  if (const auto after = compare(static_cast<std::int64_t>(bytes), guard_image().data(), guard_bytes)) return after;
  if (const auto before = compare(-guard, guard_image().data(), guard_bytes)) return before;
  return image != nullptr ? compare(0, image, bytes) : std::nullopt;
}

} // namespace tessera::judge
