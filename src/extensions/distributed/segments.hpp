#pragma once

#include <algorithm>

#include "move.hpp"

namespace tessera::distributed {

/// Which layer multiplies which segments of k. The sums are handed on from the last layer to layer 0, in ascending k:
/// the last layer that works has the first segments.
struct Segments {
  /// `longest` is the k of a segment.
  Segments(Index inner, int layers, Index longest)
      : k(inner),
        length(longest),
        count((inner + longest - 1) / longest),
        working_layers(static_cast<int>(std::min<Index>(layers, std::max<Index>(count, 1)))) {}

  /// Returns how many segments a layer has.
  Index of_layer(int layer) const noexcept { return first(layer - 1) - first(layer); }
  /// Returns the most segments of a layer.
  Index steps() const noexcept { return (count + working_layers - 1) / working_layers; }
  /// Returns the k of a layer's segment; none if the layer has no more.
  Window window(int layer, Index step) const noexcept {
    if (layer >= working_layers || step >= of_layer(layer)) return {};
    const Index begin = (first(layer) + step) * length;
    return {begin, std::min(begin + length, k)};
  }

  Index k;
  Index length; ///< of all segments but the last one
  Index count;
  int working_layers;

 private:
  /// Returns the first segment of a layer; `count` for layer −1.
  Index first(int layer) const noexcept {
    if (layer >= working_layers) return 0;
    return count * (working_layers - 1 - layer) / working_layers;
  }
};

} // namespace tessera::distributed
