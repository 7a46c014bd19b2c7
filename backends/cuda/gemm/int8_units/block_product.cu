#include "block_product.cuh"

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/operands.cuh"
#include "cuda/queue/scratch.hpp"
#include "finish.cuh"
#include "product.cuh"

namespace tessera::cuda::int8_units {
namespace {

Lines rows_of_a(const GemmCall& call) {
  const StridedOperands<double> x(call);
  return {{x.a, x.a_row, x.a_col, x.m, x.k}, tile_m, cluster * tile_m};
}
Lines columns_of_b(const GemmCall& call) {
  const StridedOperands<double> x(call);
  return {{x.b, x.b_col, x.b_row, x.n, x.k}, tile_n, tile_n};
}

} // namespace

Workspace::Workspace(const GemmCall& call) : a(rows_of_a(call)), b(columns_of_b(call)), results(call.m, call.n) {
  ScratchLayout layout;
  a_facts_ = layout.add(a.facts_bytes());
  b_facts_ = layout.add(b.facts_bytes());
  states_ = layout.add(results.tiles() * static_cast<Index>(sizeof(TileState)));
  cleared_bytes_ = layout.size();
  a_exponents_ = layout.add(a.padded * static_cast<Index>(sizeof(int)));
  b_exponents_ = layout.add(b.padded * static_cast<Index>(sizeof(int)));
  a_ = layout.add(planes * a.plane_bytes());
  b_ = layout.add(planes * b.plane_bytes());
  results_ = layout.add(results.bytes());
  const bool long_sums = a.blocks > segment_blocks;
  size_sums_ = layout.add(long_sums ? results.tiles() * tile_bytes * static_cast<Index>(sizeof(long long)) : 0);
  bytes_ = layout.size();
}

void Workspace::lie_at(char* memory) {
  a.facts = reinterpret_cast<Facts*>(memory + a_facts_);
  b.facts = reinterpret_cast<Facts*>(memory + b_facts_);
  results.states = reinterpret_cast<TileState*>(memory + states_);
  a.exponents = reinterpret_cast<int*>(memory + a_exponents_);
  b.exponents = reinterpret_cast<int*>(memory + b_exponents_);
  a.data = memory + a_;
  b.data = memory + b_;
  results.data = memory + results_;
  results.size_sums = reinterpret_cast<long long*>(memory + size_sums_);
}

Status multiply(cudaStream_t stream, const GemmCall& call, const Workspace& workspace, Index clusters) noexcept {
  const int bits = int8::whole_number_bits(call.k);
  const Lines &a = workspace.a, &b = workspace.b;
  const Results& results = workspace.results;
  if (Status status = check(cudaMemsetAsync(workspace.data(), 0, workspace.cleared_bytes(), stream),
                            "clearing the facts of a product's lines and tiles");
      !status.ok())
    return status;
  if (Status status = pack_lines(stream, a, b, bits); !status.ok()) return status;
  if (Status status = multiply_planes(stream, a, b, bits, results, clusters); !status.ok()) return status;
  if (Status status = combine_residues(stream, call, a, b, bits, results); !status.ok()) return status;
  return multiply_uncertain(stream, call, results);
}

GemmCall block_of(const GemmCall& call, Index row, Index rows, Index column, Index columns) {
  const auto further = [](const void* from, Index elements) -> const void* {
    return from == nullptr ? nullptr : static_cast<const double*>(from) + elements;
  };
  GemmCall block = call;
  block.m = rows;
  block.n = columns;
  block.a = further(call.a, row * (call.op_a == Op::None ? call.lda : 1));
  block.b = further(call.b, column * (call.op_b == Op::None ? 1 : call.ldb));
  block.c = static_cast<double*>(call.c) + row * call.ldc + column;
  Epilogue& epilogue = block.epilogue;
  epilogue.residual = further(epilogue.residual, row * epilogue.ld_residual + column);
  if (epilogue.bias_per != BiasPer::None)
    epilogue.bias = further(epilogue.bias, (epilogue.bias_per == BiasPer::Row ? row : column) * epilogue.bias_step);
  return block;
}

} // namespace tessera::cuda::int8_units
