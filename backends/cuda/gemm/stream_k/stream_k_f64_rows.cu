/// stream_k in f64 for C whose rows do not begin at whole vectors: the kernels of stream_k_f64.cu, with another store.

#include "dmma_multiplier.cuh"
#include "rows_kernels.cuh"

namespace tessera::cuda::stream_k {

template Multiply<f64::Large> multiply_by_rows<f64::Large>(Along, Along) noexcept;
template Multiply<f64::Square> multiply_by_rows<f64::Square>(Along, Along) noexcept;
template Multiply<f64::Medium> multiply_by_rows<f64::Medium>(Along, Along) noexcept;
template Multiply<f64::Small> multiply_by_rows<f64::Small>(Along, Along) noexcept;
template Multiply<f64::Flat> multiply_by_rows<f64::Flat>(Along, Along) noexcept;
template Multiply<f64::Least> multiply_by_rows<f64::Least>(Along, Along) noexcept;

} // namespace tessera::cuda::stream_k
