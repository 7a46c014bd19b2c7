/// Copies between a matrix and elements that lie in an executor's memory already.

#include <tessera/interop/executor_memory.hpp>

#include <limits>
#include <new>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/status.hpp>

#include "operand.hpp"

namespace tessera::detail {
namespace {

/// Copies of rows×cols elements of one type, in the executor's default queue.
class ElementCopies {
 public:
  ElementCopies(Executor& executor, DType type) : executor_(executor), type_(type) {}

  /// Copies rows of neighbouring elements, or the ones of a transpose.
  void run(MapOp op, Index rows, Index cols, const void* x, Index ldx, void* z, Index ldz) const {
    const ContractArithmetic contract;
    throw_if_failed(executor_.map(executor_.default_queue(), {.op = op,
                                                              .type = type_,
                                                              .rows = rows,
                                                              .cols = cols,
                                                              .x = x,
                                                              .ldx = ldx,
                                                              .z = z,
                                                              .ldz = ldz,
                                                              .x_type = type_}));
  }
  /// Copies elements whose steps no single copy takes, one line after another, along the longer side.
  void run_lines(Index rows, Index cols, const ExecutorElements& x, Placed z) const {
    const auto* const from = static_cast<const char*>(x.data);
    auto* const to = static_cast<char*>(z.data);
    const auto bytes = static_cast<Index>(size_of(type_));
    if (rows <= cols) {
      for (Index i = 0; i < rows; ++i)
        run(MapOp::Scale, cols, 1, from + i * x.row_step * bytes, x.col_step, to + i * z.ld * bytes, 1);
    } else {
      for (Index j = 0; j < cols; ++j)
        run(MapOp::Scale, rows, 1, from + j * x.col_step * bytes, x.row_step, to + j * bytes, z.ld);
    }
  }

 private:
  Executor& executor_;
  DType type_;
};

} // namespace

void copy_from_executor(Executor& executor, const ExecutorElements& from, const Operand& z) try {
  if (!has_elements(z)) return;
  const ElementCopies copies(executor, z.storage->type());
  const Placed to = write_on(z, executor, true);
  if (from.col_step == 1 || z.cols == 1)
    copies.run(MapOp::Scale, z.rows, z.cols, from.data, from.row_step, to.data, to.ld);
  else if (from.row_step == 1 || z.rows == 1)
    copies.run(MapOp::Transpose, z.rows, z.cols, from.data, from.col_step, to.data, to.ld);
  else
    copies.run_lines(z.rows, z.cols, from, to);
  written_on(z, executor);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void copy_to_executor(const Operand& x, Executor& executor, void* to, Index ld) try {
  if (!has_elements(x)) return;
  DeviceHold holds_x(x, executor);
  const Placed from = holds_x.read();
  ElementCopies(executor, x.storage->type())
      .run(x.op == Op::None ? MapOp::Scale : MapOp::Transpose, logical_rows(x), logical_cols(x), from.data, from.ld, to,
           ld);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void make_identity_on(Executor& executor, const Operand& z) try {
  if (!has_elements(z)) return;
  const Placed to = write_on(z, executor, true);
  const ContractArithmetic contract;
  throw_if_failed(executor.map(
      executor.default_queue(),
      {.op = MapOp::Identity, .type = z.storage->type(), .rows = z.rows, .cols = z.cols, .z = to.data, .ldz = to.ld}));
  written_on(z, executor);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void check_executor_memory(const char* function, Index rows, Index cols, const void* data, Index ld) {
  const std::string name(function);
  if (rows < 0 || cols < 0)
    throw InvalidArgument(name + ": sizes must not be negative, and the elements are " + shape(rows, cols));
  if (rows == 0 || cols == 0) return;
  if (ld < cols)
    throw InvalidArgument(name + ": ld = " + std::to_string(ld) + " is less than the " + std::to_string(cols) +
                          " columns; it counts elements from one row to the next");
  if (ld > std::numeric_limits<std::ptrdiff_t>::max() / static_cast<Index>(sizeof(double)) / rows)
    throw InvalidArgument(name + ": " + std::to_string(rows) + " rows of ld = " + std::to_string(ld) +
                          " elements overflow the address space");
  if (data == nullptr)
    throw InvalidArgument(name + ": the address is null, and there are " + shape(rows, cols) + " elements");
}

} // namespace tessera::detail
