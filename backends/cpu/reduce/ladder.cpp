/// canonical: shares out the chunks of reference/reduce/canonical.hpp to threads. The bits do not depend on the number
/// of threads.
///
/// Each element is read once, 8, 4 or 2 bytes for two operations, so memory is the limit. Where a chunk lies in one row
/// of the matrix, its 32 lanes are vectors of 32 sums; elsewhere the reference's code runs. Whole numbers are added in
/// parts of 65536 elements, in any order (reference/reduce/whole_sum.hpp).

#include "ladder.hpp"

#include <array>
#include <new>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/half.hpp>

#include "cpu/executor.hpp"
#include "reference/fma_clones.hpp"
#include "reference/reduce/canonical.hpp"
#include "reference/reduce/whole_sum.hpp"

namespace tessera::cpu {
namespace {

constexpr Index task_chunks = 64; ///< chunks of a task, which are 65536 elements

template <ReduceOp op, class T>
inline double fold_contiguous(const T* x) {
  double lane[host::reduce_lanes] = {};
  for (Index e = 0; e < host::reduce_chunk; e += host::reduce_lanes)
    for (Index l = 0; l < host::reduce_lanes; ++l)
      lane[l] = host::join(op, lane[l], host::term(op, static_cast<double>(x[e + l])));
  for (Index width = host::reduce_lanes / 2; width > 0; width /= 2)
    for (Index l = 0; l < width; ++l) lane[l] = host::join(op, lane[l], lane[l + width]);
  return lane[0];
}

// There is one function for each operation and type, because only functions that are not templates can be cloned for
// processors with FMA and their wider vectors.
TESSERA_FMA_CLONES double sum_of_squares(const float* x) { return fold_contiguous<ReduceOp::SumOfSquares>(x); }
TESSERA_FMA_CLONES double sum_of_squares(const double* x) { return fold_contiguous<ReduceOp::SumOfSquares>(x); }
TESSERA_FMA_CLONES double sum_of_squares(const f16* x) { return fold_contiguous<ReduceOp::SumOfSquares>(x); }
TESSERA_FMA_CLONES double sum_of_squares(const bf16* x) { return fold_contiguous<ReduceOp::SumOfSquares>(x); }
TESSERA_FMA_CLONES double sum_abs(const float* x) { return fold_contiguous<ReduceOp::SumAbs>(x); }
TESSERA_FMA_CLONES double sum_abs(const double* x) { return fold_contiguous<ReduceOp::SumAbs>(x); }
TESSERA_FMA_CLONES double sum_abs(const f16* x) { return fold_contiguous<ReduceOp::SumAbs>(x); }
TESSERA_FMA_CLONES double sum_abs(const bf16* x) { return fold_contiguous<ReduceOp::SumAbs>(x); }
TESSERA_FMA_CLONES double max_abs(const float* x) { return fold_contiguous<ReduceOp::MaxAbs>(x); }
TESSERA_FMA_CLONES double max_abs(const double* x) { return fold_contiguous<ReduceOp::MaxAbs>(x); }
TESSERA_FMA_CLONES double max_abs(const f16* x) { return fold_contiguous<ReduceOp::MaxAbs>(x); }
TESSERA_FMA_CLONES double max_abs(const bf16* x) { return fold_contiguous<ReduceOp::MaxAbs>(x); }

template <class T>
double reduce_chunk(const ReduceCall& call, Index chunk) {
  const Index first = chunk * host::reduce_chunk;
  const bool whole_chunk = call.rows * call.cols - first >= host::reduce_chunk;
  const bool in_one_row = call.ldx == call.cols || first % call.cols + host::reduce_chunk <= call.cols;
  if (!whole_chunk || !in_one_row) return host::reduce_matrix_chunk<T>(call, chunk);
  const T* x = static_cast<const T*>(call.x) + first / call.cols * call.ldx + first % call.cols;
  switch (call.op) {
    case ReduceOp::SumOfSquares:
      return sum_of_squares(x);
    case ReduceOp::SumAbs:
      return sum_abs(x);
    case ReduceOp::MaxAbs:
      return max_abs(x);
  }
  return 0.0;
}

template <class T>
Status run(const ReduceKernel&, Executor& executor, Queue&, const ReduceCall& call, ReduceResult& result) noexcept try {
  CpuExecutor& cpu = cpu_of(executor);
  const Index chunks = host::chunk_count(call.rows * call.cols);
  auto sums = sized_vector<double>(static_cast<std::size_t>(chunks), "the sums of a reduction");
  cpu.team().run((chunks + task_chunks - 1) / task_chunks, cpu.threads_for(call.threads), [&](Index task, int) {
    for (Index chunk = task * task_chunks; chunk < std::min((task + 1) * task_chunks, chunks); ++chunk)
      sums[static_cast<std::size_t>(chunk)] = reduce_chunk<T>(call, chunk);
  });
  result.value = host::fold_levels(call.op, sums);
  return {};
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

TESSERA_FMA_CLONES host::WholeSum whole_squares(const std::int32_t* x, Index count) {
  return host::sum_of_neighbours(x, count);
}

Status run_whole(const ReduceKernel&, Executor& executor, Queue&, const ReduceCall& call, ReduceResult& result) noexcept
    try {
  constexpr Index part = task_chunks * host::reduce_chunk;
  CpuExecutor& cpu = cpu_of(executor);
  const Index elements = call.rows * call.cols;
  const Index parts = (elements + part - 1) / part;
  auto sums = sized_vector<host::WholeSum>(static_cast<std::size_t>(parts), "the sums of a reduction");
  cpu.team().run(parts, cpu.threads_for(call.threads), [&](Index task, int) {
    sums[static_cast<std::size_t>(task)] =
        host::sum_of_elements(call, task * part, std::min((task + 1) * part, elements), whole_squares);
  });
  host::WholeSum sum{};
  for (const host::WholeSum& one : sums) sum += one;
  return host::set_whole(call, sum, result);
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

template <class T>
constexpr ReduceKernel rung(ReduceOp op) {
  return {.name = "canonical",
          .summary = "chunks of 1024 in 32 lanes, folded; chunks in parallel",
          .source = "Tessera",
          .op = op,
          .type = dtype_of<T>,
          .summation = Summation::Canonical,
          .run = run<T>};
}

constexpr std::array kernels{rung<float>(ReduceOp::SumOfSquares),
                             rung<double>(ReduceOp::SumOfSquares),
                             rung<float>(ReduceOp::SumAbs),
                             rung<double>(ReduceOp::SumAbs),
                             rung<float>(ReduceOp::MaxAbs),
                             rung<double>(ReduceOp::MaxAbs),
                             rung<f16>(ReduceOp::SumOfSquares),
                             rung<bf16>(ReduceOp::SumOfSquares),
                             rung<f16>(ReduceOp::SumAbs),
                             rung<bf16>(ReduceOp::SumAbs),
                             rung<f16>(ReduceOp::MaxAbs),
                             rung<bf16>(ReduceOp::MaxAbs),
                             host::whole_row("whole numbers, exact in int64; parts of 65536 in parallel", run_whole)};

} // namespace

std::span<const ReduceKernel> reduce_ladder() { return kernels; }

} // namespace tessera::cpu
