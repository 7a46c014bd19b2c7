/// Element-wise operations and reductions on matrices, wherever their elements are.

#include <cmath>
#include <iomanip>
#include <ostream>
#include <vector>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/storage.hpp>
#include <tessera/half.hpp>
#include <tessera/matrix.hpp>
#include <tessera/status.hpp>

#include "core/executor/random_range.hpp"
#include "core/placement/placement.hpp"
#include "operand.hpp"

namespace tessera::detail {
namespace {

void check_same_shape(const char* operation, const Operand& x, const Operand& y) {
  if (logical_rows(x) != logical_rows(y) || logical_cols(x) != logical_cols(y))
    throw InvalidArgument(std::string(operation) + ": shapes differ: " + shape(x) + " and " + shape(y));
}

void run(const MapCall& call, const Operand& z, Executor& executor) {
  const ContractArithmetic contract;
  throw_if_failed(executor.map(executor.default_queue(), call));
  written_on(z, executor);
}

/// Returns a call that writes z, whose rows are taken as they are stored, whatever its op is.
MapCall writing(MapOp op, const Operand& z, Executor& executor, bool discard) {
  const Placed placed = write_on(z, executor, discard);
  MapCall call;
  call.op = op;
  call.type = z.storage->type();
  call.rows = z.rows;
  call.cols = z.cols;
  call.z = placed.data;
  call.ldz = placed.ld;
  return call;
}

/// Returns x itself if its op is None, else a new matrix that holds its transpose.
Operand untransposed(const Operand& x) {
  if (x.op == Op::None) return x;
  Operand straight{create_storage(x.cols, x.rows, x.storage->type()), 0, 0, x.cols, x.rows, Op::None};
  copy(x, straight);
  return straight;
}

template <class T>
void add_magnitudes(const Operand& x, bool by_row, std::vector<double>& sums) {
  const auto* data = static_cast<const T*>(x.storage->host_read());
  for (Index i = 0; i < x.rows; ++i)
    for (Index j = 0; j < x.cols; ++j)
      sums[static_cast<std::size_t>(by_row ? i : j)] +=
          std::abs(static_cast<double>(data[(x.row + i) * x.storage->ld() + x.col + j]));
}

double largest_sum(const Operand& x, bool by_logical_row) {
  const ContractArithmetic contract;
  const bool by_row = by_logical_row == (x.op == Op::None);
  auto sums = sized_vector<double>(static_cast<std::size_t>(by_row ? x.rows : x.cols), "the sums of a norm");
  visit(x.storage->type(), [&]<class T>(std::type_identity<T>) { add_magnitudes<T>(x, by_row, sums); });
  double largest = 0;
  for (const double sum : sums) largest = sum > largest || std::isnan(sum) ? sum : largest;
  return largest;
}

/// Returns element (i, j) of the view, widened.
double element(const Operand& x, Index i, Index j) {
  if (x.op == Op::Transpose) std::swap(i, j);
  const Index offset = (x.row + i) * x.storage->ld() + x.col + j;
  const void* data = x.storage->host_read();
  return visit(x.storage->type(), [&]<class T>(std::type_identity<T>) {
    return static_cast<double>(static_cast<const T*>(data)[offset]);
  });
}

} // namespace

void fill(const Operand& z, double value) try {
  Executor& executor = place_elementwise({&z});
  MapCall call = writing(MapOp::Fill, z, executor, true);
  call.alpha = value;
  run(call, z, executor);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void identity(const Operand& z) try {
  Executor& executor = place_elementwise({&z});
  run(writing(MapOp::Identity, z, executor, true), z, executor);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void random(const Operand& z, Distribution distribution, std::uint64_t seed, double low, double high) try {
  const ContractArithmetic contract;
  RandomCall call{.distribution = distribution, .type = z.storage->type(), .seed = seed, .low = low, .high = high};
  throw_if_failed(check_random(call)); // before the old elements are given up
  Executor& executor = place_elementwise({&z});
  const Placed placed = write_on(z, executor, true);
  call.rows = z.rows;
  call.cols = z.cols;
  call.z = placed.data;
  call.ldz = placed.ld;
  throw_if_failed(executor.random(executor.default_queue(), call));
  written_on(z, executor);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void copy(const Operand& x, const Operand& z) try {
  check_same_shape("copy", x, z);
  if (overlap(x, z)) { // by way of a copy, because an element may be written before it is read
    const Operand aside{create_storage(x.rows, x.cols, x.storage->type()), 0, 0, x.rows, x.cols, Op::None};
    Operand straight = x;
    straight.op = Op::None;
    copy(straight, aside);
    Operand moved = aside;
    moved.op = x.op;
    return copy(moved, z);
  }
  const DType type = x.storage->type();
  const bool converts = type != z.storage->type();
  if (converts && x.op != z.op) {
    const Operand straight{create_storage(z.rows, z.cols, type), 0, 0, z.rows, z.cols, z.op};
    copy(x, straight);
    return copy(straight, z);
  }
  Executor& executor = place_elementwise({&x, &z});
  DeviceHold holds_x(x, executor);
  const Placed from = holds_x.read();
  MapCall call = writing(converts ? MapOp::Convert : x.op == z.op ? MapOp::Scale : MapOp::Transpose, z, executor, true);
  call.x_type = type;
  call.x = from.data;
  call.ldx = from.ld;
  run(call, z, executor);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void scale(double alpha, const Operand& x, const Operand& z) try {
  const Operand straight = untransposed(x);
  Executor& executor = place_elementwise({&straight});
  DeviceHold holds_x(straight, executor);
  const Placed from = holds_x.read();
  MapCall call = writing(MapOp::Scale, z, executor, true);
  call.alpha = alpha;
  call.x = from.data;
  call.ldx = from.ld;
  run(call, z, executor);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

namespace {

void combine(const char* name, MapOp op, double alpha, const Operand& x, double beta, const Operand& y,
             const Operand& z) {
  check_same_shape(name, x, y);
  const Operand left = untransposed(x);
  const Operand right = untransposed(y);
  Executor& executor = place_elementwise({&left, &right});
  DeviceHold holds_x(left, executor), holds_y(right, executor);
  const Placed from_x = holds_x.read();
  const Placed from_y = holds_y.read();
  MapCall call = writing(op, z, executor, true);
  call.alpha = alpha;
  call.beta = beta;
  call.x = from_x.data;
  call.ldx = from_x.ld;
  call.y = from_y.data;
  call.ldy = from_y.ld;
  run(call, z, executor);
}

} // namespace

void axpby(double alpha, const Operand& x, double beta, const Operand& y, const Operand& z) try {
  combine(beta < 0 ? "subtraction" : "addition", MapOp::Axpby, alpha, x, beta, y, z);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void multiply(const Operand& x, const Operand& y, const Operand& z) try {
  combine("hadamard", MapOp::Multiply, 1, x, 1, y, z);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

double reduce(const Operand& x, ReduceOp op) try {
  const ContractArithmetic contract;
  Executor& executor = place_elementwise({&x});
  DeviceHold holds_x(x, executor);
  const Placed from = holds_x.read();
  ReduceResult result;
  throw_if_failed(executor.reduce(executor.default_queue(),
                                  {op, x.storage->type(), x.rows, x.cols, from.data, from.ld, 0}, result));
  return result.value;
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

double norm_frobenius(const Operand& x) {
  const ContractArithmetic contract;
  return std::sqrt(reduce(x, ReduceOp::SumOfSquares));
}
double norm_one(const Operand& x) try { return largest_sum(x, false); } catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}
double norm_inf(const Operand& x) try { return largest_sum(x, true); } catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

bool equal(const Operand& x, const Operand& y) {
  const ContractArithmetic contract;
  if (logical_rows(x) != logical_rows(y) || logical_cols(x) != logical_cols(y)) return false;
  for (Index i = 0; i < logical_rows(x); ++i)
    for (Index j = 0; j < logical_cols(x); ++j)
      if (!(element(x, i, j) == element(y, i, j))) return false;
  return true;
}

std::ostream& print(std::ostream& out, const Operand& x) {
  const ContractArithmetic contract;
  constexpr Index shown = 8;
  const Index rows = logical_rows(x);
  const Index cols = logical_cols(x);
  for (Index i = 0; i < rows; ++i) {
    if (rows > shown && i == shown / 2) {
      out << "...\n";
      i = rows - shown / 2;
    }
    for (Index j = 0; j < cols; ++j) {
      if (cols > shown && j == shown / 2) {
        out << "  ...";
        j = cols - shown / 2;
      }
      out << (j == 0 ? "" : " ") << std::setw(12) << element(x, i, j);
    }
    out << '\n';
  }
  return out;
}

} // namespace tessera::detail
