#pragma once

/// Tensor maps: how Hopper's copy engine sees a matrix in memory, made on the host and given to a kernel as a
/// parameter. CUDA driver API, "Tensor Map Object Management".

#include <cuda.h>

#include <tessera/status.hpp>
#include <tessera/types.hpp>

namespace tessera::cuda {

/// Planes of rows of elements, and the box that one copy moves, the elements of a line first. Pitches in bytes,
/// multiples of 16; data aligned to 16. A box's lines have 128 bytes, and in shared memory the 16-byte chunks of line i
/// are at c ^ i % 8; or 64 bytes, at c ^ i / 2 % 4. Elements outside are read as zeros and not written.
struct TensorShape {
  Index cols, rows, planes;
  Index row_pitch, plane_pitch;
  unsigned box_rows;
  unsigned box_line = 128;
};

/// DeviceError with the driver's reason, or what is missing of the driver. Costs the host a fraction of a microsecond.
Status encode_tensor_map(CUtensorMap& map, DType type, const void* data, const TensorShape& shape) noexcept;

} // namespace tessera::cuda
