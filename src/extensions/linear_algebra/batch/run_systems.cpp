#include <tessera/linear_algebra/device_batch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <tessera/backend/panel.hpp>
#include <tessera/status.hpp>

#include "core/batch/batch_operand.hpp"

namespace tessera {
namespace {

[[noreturn]] void refuse_systems(const std::string& why) { throw InvalidArgument("run_systems: " + why); }

void expect_system_size(const char* name, Index size) {
  if (size < 0) refuse_systems(std::string(name) + " = " + std::to_string(size) + " is negative");
}

/// Where the matrices of an operand lie.
struct SystemMatrices {
  const char* name;
  Index rows, cols;
  const void* first;
  const void* const* all;
  Index ld, stride;
  bool is_written;
};

/// Devices read a complex number at once, which C++ aligns as its parts.
void expect_system_alignment(const char* name, const void* first, std::size_t element) {
  if (reinterpret_cast<std::uintptr_t>(first) % element != 0)
    refuse_systems(std::string(name) + " does not begin at a multiple of " + std::to_string(element) +
                   " bytes, which its numbers have; copy it to memory that does");
}

void check_system_matrices(const SystemMatrices& x, std::size_t element, Index count) {
  const std::string name = x.name;
  if (x.ld < x.cols)
    refuse_systems("ld" + name + " = " + std::to_string(x.ld) + ", and a row of " + name + " has " +
                   std::to_string(x.cols) + " elements");
  if (x.rows == 0 || x.cols == 0 || count == 0 || x.all != nullptr) return;
  if (x.first == nullptr) refuse_systems(name + " is null, and so is all_" + name);
  expect_system_alignment(x.name, x.first, element);
  const StoredRows rows{x.first, x.rows, x.cols, x.ld, element};
  const std::string stride = "stride_" + name;
  if (!stride_mistake(stride.c_str(), rows, x.stride, count).empty())
    refuse_systems(std::to_string(count) + " matrices with " + stride + " = " + std::to_string(x.stride) +
                   " elements overflow the address space");
  if (x.is_written && count > 1 &&
      overlap(rows, {static_cast<const char*>(x.first) + x.stride * static_cast<Index>(element), x.rows, x.cols, x.ld,
                     element}))
    refuse_systems(stride + " = " + std::to_string(x.stride) + ", and each " + name + " has " + std::to_string(x.rows) +
                   " rows that lie " + std::to_string(x.ld) + " elements apart: they overlap, and each is written");
}

void expect_system_numbers(const char* name, const void* numbers, Index count) {
  if (numbers == nullptr && count > 0) refuse_systems(std::string(name) + " is null, and the task needs it");
}

/// A copy reads matrices at any distances, whose overlap harms nothing.
void check_system_copy(detail::NumberType type, Index rows, Index cols, const SystemsCall& x) {
  const bool is_empty = rows == 0 || cols == 0 || x.count == 0;
  if (!is_empty && x.a == nullptr && x.all_a == nullptr) refuse_systems("a is null, and so is all_a");
  if (!is_empty && x.all_a == nullptr) expect_system_alignment("a", x.a, type.bytes());
  check_system_matrices({"b", rows, cols, x.b, x.all_b, x.ldb, x.stride_b, true}, type.bytes(), x.count);
}

void check_systems(detail::NumberType type, Index rows, Index cols, const SystemsCall& x) {
  using enum SystemsTask;
  if (type.part != DType::F32 && type.part != DType::F64)
    refuse_systems("systems are of f32 or f64, not of " + std::string(to_string(type.part)));
  expect_system_size("rows", rows);
  expect_system_size("cols", cols);
  expect_system_size("columns", x.columns);
  expect_system_size("count", x.count);
  if (x.task == Copy) return check_system_copy(type, rows, cols, x);
  if (x.task != Lu && rows != cols)
    refuse_systems("the matrices are " + std::to_string(rows) + "×" + std::to_string(cols) + ", and must be square");
  if (x.task == Inverse && x.columns != cols)
    refuse_systems("columns = " + std::to_string(x.columns) + ", and an inverse has " + std::to_string(cols));
  const bool writes_a = x.task == Lu || x.task == Cholesky;
  check_system_matrices({"a", rows, cols, x.a, x.all_a, x.lda, x.stride_a, writes_a}, type.bytes(), x.count);
  if (!writes_a)
    check_system_matrices({"b", cols, x.columns, x.b, x.all_b, x.ldb, x.stride_b, true}, type.bytes(), x.count);
  const Index steps = std::min(rows, cols);
  if (x.task == Lu || x.task == LuSolve) {
    expect_system_numbers("pivots", x.pivots, steps * x.count);
    const bool is_shared = x.task == LuSolve && x.pivot_stride == 0;
    if (x.pivot_stride < steps && !is_shared)
      refuse_systems("pivot_stride = " + std::to_string(x.pivot_stride) + ", and a system has " +
                     std::to_string(steps) + " pivots");
  }
  if (x.task != LuSolve && x.task != CholeskySolve) expect_system_numbers("info", x.info, x.count);
}

} // namespace

void detail::run_systems(Executor& executor, Queue& queue, NumberType type, Index rows, Index cols,
                         const SystemsCall& systems) {
  check_systems(type, rows, cols, systems);
  if (systems.count == 0) return;
  throw_if_failed(executor.panel(queue, {.op = PanelOp::SmallSystems,
                                         .type = type.part,
                                         .rows = rows,
                                         .cols = cols,
                                         .is_complex = type.is_complex,
                                         .systems = &systems}));
}
void run_systems(Executor& executor, Queue& queue, DType type, Index rows, Index cols, const SystemsCall& systems) {
  detail::run_systems(executor, queue, type, rows, cols, systems);
}

} // namespace tessera
