#include "steps.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/complex.hpp>

#include "extensions/linear_algebra/condition/largest_sum.hpp"

namespace tessera::linear_algebra::device {

void Steps::product(bool subtracts, Index m, Index n, Index k, Place a, Op op_a, Place b, Op op_b, Place c,
                    Math math) const {
  if (m == 0 || n == 0 || k == 0) return;
  multiply({.m = m, .n = n, .k = k}, subtracts ? -1.0 : 1.0, a, op_a, b, op_b, subtracts ? 1.0 : 0.0, c, math);
}

void Steps::multiply(GemmShape shape, std::complex<double> alpha, Place a, Op op_a, Place b, Op op_b,
                     std::complex<double> beta, Place c, Math math) const {
  const auto filled = [&](auto call) {
    call.math = math;
    call.op_a = op_a;
    call.op_b = op_b;
    call.m = shape.m;
    call.n = shape.n;
    call.k = shape.k;
    if constexpr (std::is_same_v<decltype(call), ComplexGemmCall>) {
      call.alpha = alpha;
      call.beta = beta;
    } else {
      call.alpha = alpha.real();
      call.beta = beta.real();
    }
    call.a = a.data;
    call.lda = a.ld;
    call.b = b.data;
    call.ldb = b.ld;
    call.c = c.data;
    call.ldc = c.ld;
    return call;
  };
  throw_if_failed(is_complex_ ? gemm(executor_, queue_, filled(ComplexGemmCall{{.type = type_}}))
                              : executor_.gemm(queue_, filled(GemmCall{{.type = type_}})));
}

void Steps::sums(Index m, Index n, Index k, Place a, Place b, Op op_b, Place s) const {
  if (k > 0) return product(false, m, n, k, a, b, op_b, s);
  fill(m, n, 0, s);
}

void Steps::fill(Index rows, Index cols, double value, Place z) const {
  map({.op = MapOp::Fill, .rows = rows, .cols = parts() * cols, .alpha = value, .z = z.data, .ldz = parts() * z.ld});
}

/// The imaginary parts are a column of real numbers.
void Steps::make_diagonal_real(Index n, Place z) const {
  map({.op = MapOp::Fill,
       .rows = n,
       .cols = 1,
       .alpha = 0.0,
       .z = z.data + static_cast<Index>(size_of(type_)),
       .ldz = parts() * (z.ld + 1)});
}

Status Steps::run(PanelCall call) const {
  call.type = type_;
  call.is_complex = is_complex_;
  return executor_.panel(queue_, call);
}

void Steps::panel(const PanelCall& call) const { throw_if_failed(run(call)); }

bool Steps::try_panel(const PanelCall& call) const {
  const Status status = run(call);
  if (status.code == StatusCode::Rejected) return false;
  throw_if_failed(status);
  return true;
}

void Steps::expect_memory_of_products() const {
  constexpr Index enough = Index{2} << 20; // src/core/complex
  if (!is_complex_) return;
  const DeviceArray some(executor_, enough);
}

void Steps::exchange_rows(Index rows, Index cols, Place a, std::span<const Index> numbers, bool ascends) const {
  if (constexpr Index most_gathered = 256; cols <= most_gathered) { // exchanges in a row take longer than copies
    std::vector<Index> from(static_cast<std::size_t>(rows));
    std::iota(from.begin(), from.end(), Index{0});
    for (std::size_t step = 0; step < numbers.size(); ++step) {
      const std::size_t row = ascends ? step : numbers.size() - 1 - step;
      std::swap(from[row], from[static_cast<std::size_t>(numbers[row])]);
    }
    return gather_rows(rows, cols, a, from);
  }
  std::vector<Index> ordered(numbers.begin(), numbers.end());
  if (!ascends) { // rows are counted from the last
    std::ranges::reverse(ordered);
    for (Index& row : ordered) row = rows - 1 - row;
    a = a.at(rows - 1, 0);
    a.ld = -a.ld;
  }
  const auto count = static_cast<Index>(ordered.size());
  const DeviceArray there = this->numbers(count);
  write(there.as<Index>(), std::span<const Index>(ordered));
  panel({.op = PanelOp::ExchangeRows,
         .rows = rows,
         .cols = cols,
         .a = a.data,
         .lda = a.ld,
         .numbers = there.as<Index>(),
         .count = count});
}

/// Row i becomes what row numbers[i] was.
void Steps::gather_rows(Index rows, Index cols, Place a, std::span<const Index> numbers) const {
  const DeviceArray there = this->numbers(rows), memory = array(rows, cols);
  const Place gathered = place(memory, cols);
  write(there.as<Index>(), numbers);
  panel({.op = PanelOp::GatherRows,
         .rows = rows,
         .cols = cols,
         .a = gathered.data,
         .lda = gathered.ld,
         .x = a.data,
         .ldx = a.ld,
         .numbers = there.as<Index>()});
  scale(rows, cols, 1, gathered, a);
}

void Steps::transpose(Index rows, Index cols, Place x, Place z, bool conjugates) const {
  map({.op = is_complex_ ? MapOp::CopyComplex : MapOp::Transpose,
       .rows = rows,
       .cols = cols,
       .x = x.data,
       .ldx = x.ld,
       .z = z.data,
       .ldz = z.ld,
       .op_x = conjugates ? Op::ConjugateTranspose : Op::Transpose});
}

void Steps::make_identity(Index rows, Index cols, Place z) const {
  map({.op = MapOp::Identity, .rows = rows, .cols = cols, .z = z.data, .ldz = z.ld});
}

void Steps::scale(Index rows, Index cols, std::complex<double> alpha, Place x, Place z) const {
  map({.op = is_complex_ ? MapOp::CombineComplex : MapOp::Scale,
       .rows = rows,
       .cols = cols,
       .alpha = alpha.real(),
       .beta = 0.0,
       .x = x.data,
       .ldx = x.ld,
       .z = z.data,
       .ldz = z.ld,
       .alpha_imaginary = alpha.imag()});
}

void Steps::bring(Index rows, Index cols, const void* from, Index ld, Place to) const {
  if (rows == 0 || cols == 0) return;
  throw_if_failed(executor_.copy_in(queue_, to.data, static_cast<std::size_t>(to.ld * element()), from,
                                    static_cast<std::size_t>(ld * element()),
                                    static_cast<std::size_t>(cols * element()), static_cast<std::size_t>(rows)));
}

void Steps::fetch(Index rows, Index cols, Place from, void* to, Index ld) const {
  if (rows == 0 || cols == 0) return;
  throw_if_failed(executor_.copy_out(queue_, to, static_cast<std::size_t>(ld * element()), from.data,
                                     static_cast<std::size_t>(from.ld * element()),
                                     static_cast<std::size_t>(cols * element()), static_cast<std::size_t>(rows)));
}

void Steps::map(MapCall call) const {
  if (call.rows == 0 || call.cols == 0) return;
  call.type = call.x_type = type_;
  throw_if_failed(executor_.map(queue_, call));
}

detail::ScaledNumber Steps::norm_1(Index rows, Index cols, Place a, bool is_symmetric) const {
  const DeviceArray memory(executor_, cols * static_cast<Index>(sizeof(double)));
  std::vector<double> sums(static_cast<std::size_t>(cols));
  return largest_sum([&](double scale) {
    panel({.op = PanelOp::ColumnSums,
           .rows = rows,
           .cols = cols,
           .a = a.data,
           .lda = a.ld,
           .symmetric = is_symmetric,
           .scale = scale,
           .sums = memory.as<double>()});
    read(std::span(sums), memory.as<const double>());
    return std::span<const double>(sums);
  });
}

} // namespace tessera::linear_algebra::device
