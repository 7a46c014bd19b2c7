/// Copies between a matrix and elements that lie in an executor's memory already.

#include <tessera/interop/executor_memory.hpp>

#include <algorithm>
#include <limits>
#include <new>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/status.hpp>

#include "operand.hpp"

namespace tessera::detail {
namespace {

/// Work with rows×cols elements of one type in the executor's default queue. Sizes and steps count elements, which have
/// one part or two.
class ElementWork {
 public:
  ElementWork(Executor& executor, DType type, bool is_complex)
      : executor_(executor), type_(type), parts_(is_complex ? 2 : 1) {}

  /// Returns a matrix's place, whose leading dimension counts parts, as one of elements.
  Placed in_elements(Placed of_parts) const { return {of_parts.data, of_parts.ld / parts_}; }

  /// Copies rows of neighbouring elements.
  void copy(Index rows, Index cols, const void* x, Index ldx, void* z, Index ldz) const {
    map({.op = MapOp::Scale,
         .rows = rows,
         .cols = parts_ * cols,
         .x = x,
         .ldx = parts_ * ldx,
         .z = z,
         .ldz = parts_ * ldz});
  }
  /// Copies the rows of a transpose.
  void turn(Index rows, Index cols, const void* x, Index ldx, void* z, Index ldz) const {
    map({.op = parts_ == 2 ? MapOp::CopyComplex : MapOp::Transpose,
         .rows = rows,
         .cols = cols,
         .x = x,
         .ldx = ldx,
         .z = z,
         .ldz = ldz,
         .op_x = Op::Transpose});
  }
  /// Copies elements whose steps no single copy takes, one line after another, along the longer side.
  void copy_lines(Index rows, Index cols, const ExecutorElements& x, Placed z) const {
    const auto* const from = static_cast<const char*>(x.data);
    auto* const to = static_cast<char*>(z.data);
    const Index bytes = parts_ * static_cast<Index>(size_of(type_));
    if (rows <= cols) {
      for (Index i = 0; i < rows; ++i)
        copy(cols, 1, from + i * x.row_step * bytes, x.col_step, to + i * z.ld * bytes, 1);
    } else {
      for (Index j = 0; j < cols; ++j) copy(rows, 1, from + j * x.col_step * bytes, x.row_step, to + j * bytes, z.ld);
    }
  }
  /// Writes a number to all parts, or to the real ones of the diagonal.
  void fill(Index rows, Index cols, double value, Placed z) const {
    map({.op = MapOp::Fill, .rows = rows, .cols = parts_ * cols, .alpha = value, .z = z.data, .ldz = parts_ * z.ld});
  }
  void fill_diagonal(Index steps, double value, Placed z) const {
    map({.op = MapOp::Fill, .rows = steps, .cols = 1, .alpha = value, .z = z.data, .ldz = parts_ * (z.ld + 1)});
  }

 private:
  void map(MapCall call) const {
    const ContractArithmetic contract;
    call.type = call.x_type = type_;
    throw_if_failed(executor_.map(executor_.default_queue(), call));
  }

  Executor& executor_;
  DType type_;
  Index parts_;
};

} // namespace

void copy_from_executor(Executor& executor, const ExecutorElements& from, const Operand& z) try {
  if (!has_elements(z)) return;
  const ElementWork work(executor, z.storage->type(), from.is_complex);
  const Placed to = work.in_elements(write_on(z, executor, true));
  const Index cols = from.is_complex ? z.cols / 2 : z.cols;
  if (from.col_step == 1 || cols == 1)
    work.copy(z.rows, cols, from.data, from.row_step, to.data, to.ld);
  else if (from.row_step == 1 || z.rows == 1)
    work.turn(z.rows, cols, from.data, from.col_step, to.data, to.ld);
  else
    work.copy_lines(z.rows, cols, from, to);
  written_on(z, executor);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void copy_to_executor(const Operand& x, Executor& executor, void* to, Index ld, bool is_complex) try {
  if (!has_elements(x)) return;
  const ElementWork work(executor, x.storage->type(), is_complex);
  DeviceHold holds_x(x, executor);
  const Placed from = work.in_elements(holds_x.read());
  const Index cols = is_complex ? x.cols / 2 : x.cols;
  if (x.op == Op::None)
    work.copy(x.rows, cols, from.data, from.ld, to, ld);
  else
    work.turn(cols, x.rows, from.data, from.ld, to, ld);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void make_identity_on(Executor& executor, const Operand& z, bool is_complex) try {
  if (!has_elements(z)) return;
  const ElementWork work(executor, z.storage->type(), is_complex);
  const Placed to = work.in_elements(write_on(z, executor, true));
  const Index cols = is_complex ? z.cols / 2 : z.cols;
  work.fill(z.rows, cols, 0, to);
  work.fill_diagonal(std::min(z.rows, cols), 1, to);
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
  if (ld > std::numeric_limits<std::ptrdiff_t>::max() / static_cast<Index>(2 * sizeof(double)) / rows)
    throw InvalidArgument(name + ": " + std::to_string(rows) + " rows of ld = " + std::to_string(ld) +
                          " elements overflow the address space");
  if (data == nullptr)
    throw InvalidArgument(name + ": the address is null, and there are " + shape(rows, cols) + " elements");
}

} // namespace tessera::detail
