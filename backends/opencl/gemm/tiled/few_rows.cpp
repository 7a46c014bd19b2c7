#include <utility>

#include "opencl/gemm/common/tiled.hpp"
#include "opencl/queue/element_options.hpp"
#include "opencl/queue/scratch.hpp"
#include "parts.hpp"

namespace tessera::opencl {
namespace source {

std::string_view few_rows_cl();

} // namespace source

namespace {

constexpr Index rows_of_group = 4, columns_of_group = 64;

/// A product with the shorter side of C as its rows.
struct FewRows {
  Index rows, columns;
  Operand a, b, c;

  explicit FewRows(const GemmCall& call)
      : rows(call.m),
        columns(call.n),
        a(Operand::of(call.a, call.op_a, call.lda)),
        b(Operand::of(call.b, call.op_b, call.ldb)),
        c{call.c, call.ldc, 1} {
    if (rows <= columns) return;
    std::swap(rows, columns);
    std::swap(a, b);
    for (Operand* const x : {&a, &b, &c}) std::swap(x->row, x->column);
  }
};

Status multiply(Queue& queue, const GemmCall& call, const FewRows& x, const Operand& to, Index segments) {
  const bool splits = segments > 1;
  const DType stored = splits ? scalar_of(call.type) : call.result;
  Launch launch(queue, {"few_rows.cl", source::few_rows_cl},
                scalar_option(call.type) + defined("ROWS", rows_of_group) + stored_option("X", call.type) +
                    stored_option("Z", stored),
                "few_rows");
  launch.value<cl_long>(x.rows).value<cl_long>(x.columns).value<cl_long>(call.k);
  launch.operand(x.a.data, size_of(call.type)).value<cl_long>(x.a.row).value<cl_long>(x.a.column);
  launch.operand(x.b.data, size_of(call.type)).value<cl_long>(x.b.row).value<cl_long>(x.b.column);
  launch.operand(to.data, size_of(stored)).value<cl_long>(to.row).value<cl_long>(to.column);
  launch.value<cl_long>(splits ? x.rows * x.columns : 0);
  scalar_value(scalar_value(launch, call.type, splits ? 1 : call.alpha), call.type, splits ? 0 : call.beta);
  return launch.value<cl_int>(splits ? 1 : 0)
      .run_3d({static_cast<std::size_t>(rounded_up(x.columns, columns_of_group)), tiles_over(x.rows, rows_of_group),
               static_cast<std::size_t>(segments)},
              {columns_of_group, 1, 1});
}

} // namespace

Status run_few_rows(Queue& queue, const GemmCall& call) {
  const Device& device = command_queue(queue).context().device();
  const std::size_t bytes = 16 * (rows_of_group + columns_of_group + 1) * size_of(scalar_of(call.type));
  if (device.most_work_items < columns_of_group || device.local_bytes < bytes)
    return {StatusCode::Rejected, "few_rows has work-groups of 64 work-items with " + std::to_string(bytes) +
                                      " bytes of local memory, and " + device.name + " allows " +
                                      std::to_string(device.most_work_items) + " work-items and " +
                                      std::to_string(device.local_bytes) + " bytes; use naive_coalesced"};
  const FewRows x(call);
  const auto segments = static_cast<Index>(tiles_over(call.k, canonical_segment));
  if (segments == 1) return multiply(queue, call, x, x.c, 1);
  Scratch sums;
  const auto count = static_cast<std::size_t>(segments) * static_cast<std::size_t>(x.rows * x.columns);
  Status status = sums.allocate(queue, count * size_of(scalar_of(call.type)));
  if (status.code == StatusCode::OutOfMemory) return multiply(queue, call, x, x.c, 1);
  if (status.ok()) status = multiply(queue, call, x, {sums.data(), x.columns, 1}, segments);
  if (!status.ok()) return status;
  return add_segments(queue, call, {x.rows, x.columns, segments, sums.data(), x.c});
}

} // namespace tessera::opencl
