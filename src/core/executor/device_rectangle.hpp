#pragma once

#include <algorithm>
#include <cstddef>

#include <tessera/types.hpp>

namespace tessera::detail {

/// A row-major rectangle in a device's memory. Its rows are padded to whole cache lines.
struct DeviceRectangle {
  Index rows = 0;
  Index cols = 0;
  std::size_t element = 0; ///< bytes

  Index ld() const { return (std::max<Index>(cols, 1) + line() - 1) / line() * line(); }
  std::size_t pitch() const { return static_cast<std::size_t>(ld()) * element; }
  std::size_t bytes() const { return pitch() * static_cast<std::size_t>(rows); }

 private:
  Index line() const { return static_cast<Index>(256 / element); }
};

} // namespace tessera::detail
