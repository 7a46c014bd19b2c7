#pragma once

/// Tensor maps: how Hopper's copy engine sees a matrix in memory. The host makes them and passes them to a kernel as a
/// parameter. Source: CUDA driver API, "Tensor Map Object Management".

#include <cuda.h>

#include <tessera/status.hpp>
#include <tessera/types.hpp>

namespace tessera::cuda {

/// A tensor of planes of rows of elements, and the box that one copy moves; sizes and pitches begin with the elements
/// of a line. Pitches are in bytes and multiples of 16, and data is aligned to 16 bytes. A box's lines have 128 bytes,
/// and in shared memory the 16-byte chunk c of line i is at c ^ i % 8; or they have 64 bytes, and it is at c ^ i / 2 %
/// 4. Elements outside are read as zeros and not written.
struct TensorShape {
  Index cols, rows, planes;
  Index row_pitch, plane_pitch;
  unsigned box_rows;
  unsigned box_line = 128;
  unsigned cache_line = 128; ///< bytes that the L2 cache reads from memory at once: 128 or 256
};

/// Makes the map. Fails with DeviceError and the driver's reason, or says what the driver lacks.
Status encode_tensor_map(CUtensorMap& map, DType type, const void* data, const TensorShape& shape) noexcept;

} // namespace tessera::cuda
