/// transposed: transposes B first, so that both operands stream through the cache.
///
/// An element costs 2·k operations and 2·k loads of neighbouring elements; the sum stays in a register. The transpose
/// costs k·n loads and stores once. Source: the course report; textbooks on vector machines had the idea before there
/// were caches.

#include <new>
#include <vector>

#include <tessera/backend/out_of_memory.hpp>

#include "cpu/gemm/common/row_loops.hpp"
#include "cpu/gemm/ladder.hpp"
#include "traffic.hpp"

namespace tessera::cpu {
namespace {

/// An operand whose rows are contiguous. It is the caller's matrix or a transposed copy of it.
template <class T>
struct Rows {
  const T* data;
  Index ld;
  std::vector<T> copy;
  const T* operator[](Index i) const { return data + i * ld; }
};

/// Makes a rows×cols operand of `x`, which is stored transposed if `transposed` is true.
template <class T>
Status make_rows(CpuExecutor& cpu, Queue& queue, int threads, const T* x, Index ldx, bool transposed, Index rows,
                 Index cols, Rows<T>& made) {
  made = {x, ldx, {}};
  if (!transposed) return {};
  made.copy = sized_vector<T>(static_cast<std::size_t>(rows * cols), "a transposed operand");
  made.data = made.copy.data();
  made.ld = cols;
  MapCall transpose{.op = MapOp::Transpose, .type = dtype_of<T>, .rows = rows, .cols = cols};
  transpose.x = x;
  transpose.ldx = ldx;
  transpose.z = made.copy.data();
  transpose.ldz = cols;
  transpose.threads = threads;
  return cpu.map(queue, transpose);
}

template <class T>
Status run(const GemmKernel&, Executor& executor, Queue& queue, const GemmCall& call) noexcept try {
  const GemmOperands<T> x(call);
  CpuExecutor& cpu = cpu_of(executor);
  Rows<T> a;  // op(A)
  Rows<T> bt; // op(B)ᵀ
  if (Status s = make_rows(cpu, queue, call.threads, x.a, x.lda, x.op_a == Op::Transpose, x.m, x.k, a); !s.ok())
    return s;
  if (Status s = make_rows(cpu, queue, call.threads, x.b, x.ldb, x.op_b == Op::None, x.n, x.k, bt); !s.ok()) return s;
  for_row_groups(cpu, call, 1, [&](Index first, Index last, int) {
    for (Index i = first; i < last; ++i)
      for (Index j = 0; j < x.n; ++j) {
        const T* row_a = a[i];
        const T* row_b = bt[j];
        T sum{0};
        for (Index p = 0; p < x.k; ++p) sum += row_a[p] * row_b[p];
        store_scaled(x, sum, x.c[i * x.ldc + j]);
      }
  });
  return {};
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

template <class T>
constexpr GemmKernel rung{.name = "transposed",
                          .summary = "B transposed first, the sum in a register",
                          .source = "textbook; course report",
                          .type = dtype_of<T>,
                          .run = run<T>,
                          .traffic = transposed_traffic};

} // namespace

const GemmKernel transposed_f32 = rung<float>;
const GemmKernel transposed_f64 = rung<double>;

} // namespace tessera::cpu
