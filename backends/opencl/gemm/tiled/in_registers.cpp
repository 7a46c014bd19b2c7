#include "opencl/gemm/common/tiled.hpp"

#include <utility>

#include "opencl/queue/element_options.hpp"
#include "opencl/queue/scratch.hpp"
#include "parts.hpp"
#include "plan.hpp"

namespace tessera::opencl {
namespace source {

std::string_view register_tiles_cl();
std::string_view pack_panels_cl();

} // namespace source

namespace {

/// One product or a batch, with its operands where the kernels find them.
class RegisterProduct {
 public:
  RegisterProduct(Queue& queue, const GemmCall& call, const BatchSteps& steps, bool with_memory)
      : queue_(queue),
        call_(call),
        steps_(steps),
        plan_(plan_tiles(command_queue(queue).context().device(), call, steps.count, with_memory)),
        real_bytes_(scalar_of(call.type) == DType::F64 ? 8 : 4),
        a_(Operand::of(call.a, call.op_a, call.lda)),
        b_(Operand::of(call.b, call.op_b, call.ldb)),
        c_{call.c, call.ldc, 1} {
    rows_ = call.m;
    columns_ = call.n;
    if (!plan_.turned) return;
    std::swap(a_, b_);
    std::swap(a_.row, a_.column);
    std::swap(b_.row, b_.column);
    std::swap(c_.row, c_.column);
    std::swap(rows_, columns_);
    std::swap(steps_.a, steps_.b);
  }

  Status run() {
    const Index of_a = plan_.left == LeftForm::Packed ? rounded_up(rows_, plan_.tile.rows) * call_.k : 0;
    const Index of_b = plan_.right == RightForm::Packed ? rounded_up(columns_, plan_.columns()) * call_.k : 0;
    const Index all_tiles = rounded_up(rows_, plan_.tile.rows) * rounded_up(columns_, plan_.columns());
    const Index of_sums = plan_.way == SegmentWay::Split    ? plan_.segments * rows_ * columns_
                          : plan_.way == SegmentWay::InTurn ? all_tiles
                                                            : 0;
    Scratch scratch;
    // Panels begin on cache lines.
    const Index at_b = rounded_up(of_a, 16), at_sums = at_b + rounded_up(of_b, 16), all = at_sums + of_sums;
    if (all > 0)
      if (Status status = scratch.allocate(queue_, static_cast<std::size_t>(all) * real_bytes_); !status.ok())
        return status;
    const auto place = [&](Index element) -> void* {
      return static_cast<char*>(scratch.data()) + static_cast<std::size_t>(element) * real_bytes_;
    };
    if (of_a > 0) {
      const Operand lines{a_.data, a_.row, a_.column};
      if (Status status = pack(rows_, lines, plan_.tile.rows, place(0)); !status.ok()) return status;
      a_.data = place(0);
    }
    if (of_b > 0) {
      const Operand lines{b_.data, b_.column, b_.row};
      if (Status status = pack(columns_, lines, plan_.columns(), place(at_b)); !status.ok()) return status;
      b_.data = place(at_b);
    }
    const Results to_c{c_, steps_.c, call_.result, call_.alpha, call_.beta, steps_.count};
    if (plan_.way == SegmentWay::Whole) return multiply(to_c, 0, nullptr);
    if (plan_.way == SegmentWay::InTurn) {
      for (Index turn = 0; turn < plan_.segments; ++turn)
        if (Status status = multiply(to_c, turn, place(at_sums)); !status.ok()) return status;
      return {};
    }
    const Operand sums{place(at_sums), columns_, 1};
    if (Status status = multiply({sums, rows_ * columns_, scalar_of(call_.type), 1, 0, plan_.segments}, 0, nullptr);
        !status.ok())
      return status;
    return add_segments(queue_, call_, {rows_, columns_, plan_.segments, sums.data, c_});
  }

 private:
  /// Where sums go, and how.
  struct Results {
    Operand c;
    Index step;
    DType type;
    double alpha, beta;
    Index count;
  };

  /// Copies `outer` lines of k elements, whose strides are `lines`, to panels.
  Status pack(Index outer, const Operand& lines, int width, void* to) {
    const Index panels = lines.column == 1 ? 1 : 16, depth = lines.column == 1 ? 256 : 8;
    Launch launch(queue_, {"pack_panels.cl", source::pack_panels_cl},
                  scalar_option(call_.type) + stored_option("X", call_.type), "pack_panels");
    launch.value<cl_long>(outer).value<cl_long>(call_.k);
    launch.operand(lines.data, size_of(call_.type)).value<cl_long>(lines.row).value<cl_long>(lines.column);
    return launch.operand(to, real_bytes_)
        .value<cl_int>(width)
        .value<cl_long>(panels)
        .value<cl_long>(depth)
        .run({tiles_over(outer, width * panels), tiles_over(call_.k, depth)}, {1, 1});
  }

  Status multiply(const Results& to, Index turn, void* sums) {
    std::string options = scalar_option(call_.type) + defined("W", plan_.width) + defined("MR", plan_.tile.rows) +
                          defined("NV", plan_.tile.vectors) + stored_option("Z", to.type);
    if (plan_.left == LeftForm::Strided || plan_.right == RightForm::Staged) options += stored_option("X", call_.type);
    if (plan_.left == LeftForm::Packed) options += " -D A_PACKED";
    if (plan_.right == RightForm::Staged) options += " -D B_STAGED";
    if (to.type == scalar_of(call_.type)) options += " -D VECTOR_RESULTS";
    const std::size_t stored = size_of(call_.type);
    const bool is_packed = plan_.right == RightForm::Packed;
    Launch launch(queue_, {"register_tiles.cl", source::register_tiles_cl}, options, "register_tiles");
    launch.value<cl_long>(rows_).value<cl_long>(columns_).value<cl_long>(call_.k);
    launch.operand(a_.data, plan_.left == LeftForm::Packed ? real_bytes_ : stored);
    launch.value<cl_long>(a_.row).value<cl_long>(a_.column).value<cl_long>(steps_.a);
    launch.operand(b_.data, is_packed ? real_bytes_ : stored);
    launch.value<cl_long>(is_packed ? plan_.columns() : b_.row).value<cl_long>(b_.column).value<cl_long>(steps_.b);
    launch.operand(to.c.data, size_of(to.type));
    launch.value<cl_long>(to.c.row).value<cl_long>(to.c.column).value<cl_long>(to.step);
    scalar_value(scalar_value(launch, call_.type, to.alpha), call_.type, to.beta);
    launch.value<cl_int>(is_packed ? 1 : 0)
        .value<cl_int>(static_cast<cl_int>(plan_.way))
        .value<cl_long>(turn)
        .operand(sums, real_bytes_);
    return launch.run_3d(
        {tiles_over(rows_, plan_.tile.rows), tiles_over(columns_, plan_.columns()), static_cast<std::size_t>(to.count)},
        {1, 1, 1});
  }

  Queue& queue_;
  const GemmCall& call_;
  BatchSteps steps_;
  TilePlan plan_;
  std::size_t real_bytes_;
  Operand a_, b_, c_;
  Index rows_ = 0, columns_ = 0;
};

} // namespace

Status run_in_registers(Queue& queue, const GemmCall& call, const BatchSteps& steps) {
  Status status = RegisterProduct(queue, call, steps, true).run();
  // The launch that writes C is the last one, so that C has not changed.
  return status.code == StatusCode::OutOfMemory ? RegisterProduct(queue, call, steps, false).run() : status;
}

} // namespace tessera::opencl
