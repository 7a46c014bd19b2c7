/// stream_k in f32 for C whose rows do not begin at whole vectors: the kernels of stream_k_f32.cu, with another store.

#include "fma_multiplier.cuh"
#include "rows_kernels.cuh"

namespace tessera::cuda::stream_k {

template Multiply<f32::Large> multiply_by_rows<f32::Large>(Along, Along) noexcept;
template Multiply<f32::Square> multiply_by_rows<f32::Square>(Along, Along) noexcept;
template Multiply<f32::Medium> multiply_by_rows<f32::Medium>(Along, Along) noexcept;
template Multiply<f32::Small> multiply_by_rows<f32::Small>(Along, Along) noexcept;
template Multiply<f32::Flat> multiply_by_rows<f32::Flat>(Along, Along) noexcept;
template Multiply<f32::Least> multiply_by_rows<f32::Least>(Along, Along) noexcept;

} // namespace tessera::cuda::stream_k
