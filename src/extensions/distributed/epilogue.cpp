#include "epilogue.hpp"

#include <algorithm>

#include <tessera/complex.hpp>
#include <tessera/running_sums.hpp>

#include "core/placement/placement.hpp"
#include "memory/resident.hpp"
#include "stored_rows.hpp"

namespace tessera::distributed {
namespace {

/// The bytes of f32 that finish_product() converts a strip of a 16-bit C into; they stay in the second-level cache.
constexpr Index strip_bytes = Index{256} << 10;

} // namespace

Index LastStep::strip_rows() const noexcept {
  const StoredRows stored = stored_rows(c);
  const Index rows = stored.rows, cols = stored.cols;
  const Index row_bytes = std::max<Index>(1, cols) * static_cast<Index>(sizeof(float));
  return std::min(rows, std::max<Index>(1, strip_bytes / row_bytes));
}

std::size_t LastStep::buffer_bytes() const noexcept {
  if (!is_16_bit(c.type.part) || beta == 0.0) return 0;
  return static_cast<std::size_t>(strip_rows() * stored_rows(c).cols) * sizeof(float);
}

Status LastStep::run_without_sums() const {
  const StoredRows stored = stored_rows(c);
  const Index rows = stored.rows, cols = stored.cols;
  if (rows == 0 || cols == 0) return {};
  Executor& host = place_elementwise({});
  if (c.type.is_complex)
    return gemm(host, host.default_queue(),
                {{.type = c.type.part,
                  .m = rows,
                  .n = cols,
                  .lda = 1,
                  .ldb = cols,
                  .beta = beta,
                  .c = c.data,
                  .ldc = c.ld,
                  .threads = threads}});
  return host.scale_result(
      host.default_queue(),
      {{.type = c.type.part, .m = rows, .n = cols, .beta = beta.real(), .c = c.data, .ldc = c.ld, .threads = threads}});
}

Status LastStep::run(char* sums) const {
  const StoredRows stored = stored_rows(c);
  const Index rows = stored.rows, cols = stored.cols;
  if (rows == 0 || cols == 0) return {};
  if (c.type.is_complex) return run_on_complex({place_elementwise({}), c.data, c.ld}, {sums, cols, false});
  const std::size_t sum_bytes = c.type.sum_bytes();
  const Index most = buffer_bytes() == 0 ? rows : strip_rows();
  Executor& host = place_elementwise({});
  for (Index first = 0, count = 0; first < rows; first += count) {
    count = std::min(most, rows - first);
    const GemmCall strip{{.type = c.type.part,
                          .m = count,
                          .n = cols,
                          .alpha = alpha.real(),
                          .beta = beta.real(),
                          .c = static_cast<char*>(c.data) + static_cast<std::size_t>(first * c.ld) * c.type.bytes(),
                          .ldc = c.ld,
                          .threads = threads}};
    const RunningSums of_strip{sums + static_cast<std::size_t>(first * cols) * sum_bytes, cols, false};
    if (Status status = finish_product(host, host.default_queue(), strip, of_strip); !status.ok()) return status;
  }
  return {};
}

Status LastStep::run_on_device(const RunningSums& sums) const {
  const StoredRows stored = stored_rows(c);
  const Index rows = stored.rows, cols = stored.cols;
  const tessera::detail::PlacedElements& elements = *c.resident;
  Executor& device = elements.executor;
  Status status;
  if (c.type.is_complex)
    status = run_on_complex({device, elements.memory.data(), elements.layout.ld()}, sums);
  else
    status = finish_product(device, device.default_queue(),
                            {{.type = c.type.part,
                              .m = rows,
                              .n = cols,
                              .alpha = alpha.real(),
                              .beta = beta.real(),
                              .c = elements.memory.data(),
                              .ldc = elements.layout.ld(),
                              .threads = threads}},
                            sums);
  const Status done = device.default_queue().synchronize();
  return status.ok() ? done : status;
}

Status LastStep::run_on_complex(const Place& place, const RunningSums& sums) const {
  const StoredRows stored = stored_rows(c);
  const Index rows = stored.rows, cols = stored.cols;
  return place.executor.map(place.executor.default_queue(), {.op = MapOp::CombineComplex,
                                                             .type = c.type.part,
                                                             .rows = rows,
                                                             .cols = cols,
                                                             .alpha = alpha.real(),
                                                             .beta = beta.real(),
                                                             .x = sums.data,
                                                             .ldx = sums.ld,
                                                             .y = place.c,
                                                             .ldy = place.ldc,
                                                             .z = place.c,
                                                             .ldz = place.ldc,
                                                             .threads = threads,
                                                             .alpha_imaginary = alpha.imag(),
                                                             .beta_imaginary = beta.imag()});
}

} // namespace tessera::distributed
