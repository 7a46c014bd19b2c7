#include "epilogue.hpp"

#include <algorithm>

#include <tessera/complex.hpp>

#include "dispatch/placement.hpp"

namespace tessera::distributed {
namespace {

using tessera::detail::DistributedStorage;

/// The bytes of f32 into which a strip of a 16-bit C is converted; it stays in the second-level cache.
constexpr Index strip_bytes = Index{256} << 10;

/// C's local elements as a row-major matrix: its columns are rows here where it is column-major.
struct StoredC {
  Index rows, cols;
};
StoredC stored(const DistributedStorage& c) noexcept {
  const bool by_rows = c.order == LocalOrder::RowMajor;
  return {by_rows ? c.local_rows : c.local_cols, by_rows ? c.local_cols : c.local_rows};
}

} // namespace

Index LastStep::strip_rows() const noexcept {
  const auto [rows, cols] = stored(c);
  const Index row_bytes = std::max<Index>(1, cols) * static_cast<Index>(sizeof(float));
  return std::min(rows, std::max<Index>(1, strip_bytes / row_bytes));
}

std::size_t LastStep::buffer_bytes() const noexcept {
  if (!is_16_bit(c.type.part) || beta == 0.0) return 0;
  return static_cast<std::size_t>(strip_rows() * stored(c).cols) * sizeof(float);
}

Status LastStep::run_without_sums() const {
  const auto [rows, cols] = stored(c);
  if (rows == 0 || cols == 0) return {};
  Executor& host = place_elementwise({});
  if (c.type.is_complex)
    return gemm(host, host.default_queue(),
                {.type = c.type.part,
                 .m = rows,
                 .n = cols,
                 .lda = 1,
                 .ldb = cols,
                 .beta = beta,
                 .c = c.data,
                 .ldc = c.ld,
                 .threads = threads});
  return host.scale_result(
      host.default_queue(),
      {.type = c.type.part, .m = rows, .n = cols, .beta = beta.real(), .c = c.data, .ldc = c.ld, .threads = threads});
}

Status LastStep::run(char* sums, char* buffer) const {
  const auto [rows, cols] = stored(c);
  if (rows == 0 || cols == 0) return {};
  if (is_16_bit(c.type.part)) return run_on_16_bits(sums, buffer);
  Executor& host = place_elementwise({});
  const bool reads_c = beta != 0.0;
  return host.map(host.default_queue(), {.op = c.type.is_complex ? MapOp::CombineComplex
                                               : reads_c         ? MapOp::Axpby
                                                                 : MapOp::Scale,
                                         .type = c.type.part,
                                         .rows = rows,
                                         .cols = cols,
                                         .alpha = alpha.real(),
                                         .beta = beta.real(),
                                         .x = sums,
                                         .ldx = cols,
                                         .y = reads_c || c.type.is_complex ? c.data : nullptr,
                                         .ldy = c.ld,
                                         .z = c.data,
                                         .ldz = c.ld,
                                         .threads = threads,
                                         .alpha_imaginary = alpha.imag(),
                                         .beta_imaginary = beta.imag()});
}

/// The sums are f32, and so is the arithmetic; each element is rounded once.
Status LastStep::run_on_16_bits(char* sums, char* buffer) const {
  Executor& host = place_elementwise({});
  Queue& queue = host.default_queue();
  const auto [rows, cols] = stored(c);
  for (Index first = 0, count = 0; first < rows; first += count) {
    count = std::min(strip_rows(), rows - first);
    float* strip = reinterpret_cast<float*>(sums) + first * cols;
    void* target = static_cast<char*>(c.data) + static_cast<std::size_t>(first * c.ld) * c.type.bytes();
    MapCall map{.rows = count, .cols = cols, .threads = threads};
    if (beta != 0.0) {
      map.op = MapOp::Convert;
      map.x_type = c.type.part;
      map.x = target;
      map.ldx = c.ld;
      map.z = buffer;
      map.ldz = cols;
      if (Status status = host.map(queue, map); !status.ok()) return status;
    }
    map.op = beta != 0.0 ? MapOp::Axpby : MapOp::Scale;
    map.x_type = DType::F32;
    map.alpha = alpha.real();
    map.beta = beta.real();
    map.x = map.z = strip;
    map.ldx = map.ldz = cols;
    map.y = beta != 0.0 ? buffer : nullptr;
    map.ldy = cols;
    if (Status status = host.map(queue, map); !status.ok()) return status;
    map = {.op = MapOp::Convert,
           .type = c.type.part,
           .rows = count,
           .cols = cols,
           .x = strip,
           .ldx = cols,
           .z = target,
           .ldz = c.ld,
           .threads = threads,
           .x_type = DType::F32};
    if (Status status = host.map(queue, map); !status.ok()) return status;
  }
  return {};
}

} // namespace tessera::distributed
