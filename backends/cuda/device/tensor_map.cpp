#include "tensor_map.hpp"

#include <cuda_runtime_api.h>

#include <new>
#include <string>

#include "status.hpp"

namespace tessera::cuda {
namespace {

using Encode = decltype(&cuTensorMapEncodeTiled);

/// Finds the function in the driver that cudart has opened: the plug-in is not linked against the driver.
Encode find_encode() noexcept {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
#else
  const cudaError_t error = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found);
#endif
  if (error != cudaSuccess) cudaGetLastError();
  return error == cudaSuccess && found == cudaDriverEntryPointSuccess ? reinterpret_cast<Encode>(function) : nullptr;
}

constexpr CUtensorMapDataType element(DType type) {
  switch (type) {
    case DType::F32:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case DType::F64:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    case DType::F16:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case DType::BF16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    default: // no other type has tiles
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  }
}

} // namespace

Status encode_tensor_map(CUtensorMap& map, DType type, const void* data, const TensorShape& shape) noexcept try {
  static const Encode encode = find_encode();
  if (encode == nullptr)
    return Status::failure(StatusCode::DeviceError, "the driver has no cuTensorMapEncodeTiled; update it to CUDA 12");
  const cuuint64_t sizes[]{static_cast<cuuint64_t>(shape.cols), static_cast<cuuint64_t>(shape.rows),
                           static_cast<cuuint64_t>(shape.planes)};
  const cuuint64_t pitches[]{static_cast<cuuint64_t>(shape.row_pitch), static_cast<cuuint64_t>(shape.plane_pitch)};
  const cuuint32_t box[]{static_cast<cuuint32_t>(shape.box_line / size_of(type)), shape.box_rows, 1};
  const cuuint32_t steps[]{1, 1, 1};
  const CUtensorMapSwizzle swizzle = shape.box_line == 64 ? CU_TENSOR_MAP_SWIZZLE_64B : CU_TENSOR_MAP_SWIZZLE_128B;
  const CUtensorMapL2promotion promotion =
      shape.cache_line == 256 ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B : CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
  const CUresult result = encode(&map, element(type), 3, const_cast<void*>(data), sizes, pitches, box, steps,
                                 CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, promotion, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result == CUDA_SUCCESS) return {};
  return Status::failure(StatusCode::DeviceError,
                         "cuTensorMapEncodeTiled failed with error " + std::to_string(static_cast<int>(result)));
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

} // namespace tessera::cuda
