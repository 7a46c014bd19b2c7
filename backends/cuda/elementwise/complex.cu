/// Operations on complex numbers, with the reference's bits. If x is read by columns, a block moves 32×32 numbers
/// through shared memory, as transpose.cu does. Else each number is computed independently of the others.

#include "elementwise.hpp"
#include "for_each.cuh"
#include "reference/elementwise/complex_number.hpp"

namespace tessera::cuda {
namespace {

constexpr int square = 32;
constexpr int square_rows = 8;    // Rows of a square that a block copies at a time.
constexpr Index most_down = 1024; // Most rows of blocks in the grid. A block goes on to further squares.

/// Number (i, j) of the expanded z, if x is read as it is stored. Rows 2i and 2i + 1 of z come from row i of x.
template <class T>
struct Expanded {
  const ComplexNumber<T>* x;
  Index ld;
  __device__ ComplexNumber<T> operator()(Index i, Index j) const {
    const ComplexNumber<T> number = x[i / 2 * ld + j];
    return i % 2 == 0 ? number : turned_by_i(number);
  }
};

template <class T>
struct Copied {
  const ComplexNumber<T>* x;
  Index ld;
  __device__ ComplexNumber<T> operator()(Index i, Index j) const { return x[i * ld + j]; }
};

template <class T>
struct ScaledComplex {
  ComplexNumber<T> alpha;
  Copied<T> x;
  __device__ ComplexNumber<T> operator()(Index i, Index j) const { return scaled(alpha, x(i, j)); }
};

template <class T>
struct CombinedComplex {
  ComplexNumber<T> alpha;
  Copied<T> x;
  ComplexNumber<T> beta;
  Copied<T> y;
  __device__ ComplexNumber<T> operator()(Index i, Index j) const {
    return added(beta, y(i, j), scaled(alpha, x(i, j)));
  }
};

/// Computes z = xᵀ, or z = xᴴ if `conjugates`. If `expands`, each row of z becomes two rows, as Expanded has them.
/// x is cols×rows; z is rows×cols before it is expanded.
template <class T, bool expands>
__global__ void __launch_bounds__(square* square_rows)
    turn_squares(const ComplexNumber<T>* x, Index ldx, ComplexNumber<T>* z, Index ldz, Index rows, Index cols,
                 bool conjugates) {
  __shared__ ComplexNumber<T> numbers[square][square + 1];
  const Index first_col = static_cast<Index>(blockIdx.x) * square;
  for (Index first_row = static_cast<Index>(blockIdx.y) * square; first_row < rows;
       first_row += static_cast<Index>(gridDim.y) * square) {
    const Index x_col = first_row + threadIdx.x;
    for (int r = static_cast<int>(threadIdx.y); r < square; r += square_rows)
      if (first_col + r < cols && x_col < rows) numbers[r][threadIdx.x] = x[(first_col + r) * ldx + x_col];
    __syncthreads();
    const Index z_col = first_col + threadIdx.x;
    for (int r = static_cast<int>(threadIdx.y); r < square; r += square_rows) {
      const Index row = first_row + r;
      if (row >= rows || z_col >= cols) continue;
      const ComplexNumber<T> stored = numbers[threadIdx.x][r];
      const ComplexNumber<T> number = conjugates ? conjugate(stored) : stored;
      z[(expands ? 2 * row : row) * ldz + z_col] = number;
      if (expands) z[(2 * row + 1) * ldz + z_col] = turned_by_i(number);
    }
    __syncthreads();
  }
}

Index squares(Index numbers) { return (numbers + square - 1) / square; }

template <class T, bool expands>
Status turn(Queue& queue, const MapCall& call) noexcept {
  if (call.rows == 0 || call.cols == 0) return {};
  const Index down = squares(call.rows);
  const dim3 grid(static_cast<unsigned>(squares(call.cols)),
                  static_cast<unsigned>(down < most_down ? down : most_down));
  turn_squares<T, expands><<<grid, dim3(square, square_rows), 0, stream_of(queue)>>>(
      static_cast<const ComplexNumber<T>*>(call.x), call.ldx, static_cast<ComplexNumber<T>*>(call.z), call.ldz,
      call.rows, call.cols, call.op_x == Op::ConjugateTranspose);
  return launched("transpose of complex numbers");
}

template <class T>
Status map_complex_typed(Queue& queue, const MapCall& call) noexcept {
  using Number = ComplexNumber<T>;
  const auto run = [&](Index rows, auto value, const char* name) {
    return for_each<Number>(queue, rows, call.cols, call.z, call.ldz, value, name);
  };
  const bool expands = call.op == MapOp::ExpandComplex;
  const Copied<T> x{static_cast<const Number*>(call.x), call.ldx};
  const Copied<T> y{static_cast<const Number*>(call.y), call.ldy};
  if (call.op == MapOp::CombineComplex) {
    const Number alpha = alpha_of<T>(call);
    const Number beta = beta_of<T>(call);
    if (beta.re == T{0} && beta.im == T{0}) return run(call.rows, ScaledComplex<T>{alpha, x}, "scale complex");
    return run(call.rows, CombinedComplex<T>{alpha, x, beta, y}, "combine complex");
  }
  if (call.op_x != Op::None) return expands ? turn<T, true>(queue, call) : turn<T, false>(queue, call);
  if (expands) return run(2 * call.rows, Expanded<T>{x.x, x.ld}, "expand complex");
  return run(call.rows, x, "copy complex");
}

} // namespace

Status map_complex(Queue& queue, const MapCall& call) noexcept {
  return call.type == DType::F64 ? map_complex_typed<double>(queue, call) : map_complex_typed<float>(queue, call);
}

} // namespace tessera::cuda
