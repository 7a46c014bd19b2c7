/// int8_units: f64 products by Hopper's 8-bit matrix units, with the bits of the mode's contract
/// (tessera/detail/int8_units.hpp).
///
/// Lines become whole numbers of up to 52 bits, and these become residues modulo 15 numbers of 8 bits. Their exact
/// products need 30·m·n·k operations of 8 bits, which the matrix units do some 25 times as fast as operations of f64.
/// Then the residues of each element become the exact sum (Chinese remainder theorem), which is rounded once. Source:
/// Ozaki, Uchino and Imamura, "Ozaki Scheme II" (2025).

#include <algorithm>

#include <tessera/executor.hpp>

#include "block_product.cuh"
#include "cuda/gemm/ladder.hpp"
#include "cuda/queue/scratch.hpp"
#include "cuda/queue/stream.hpp"

namespace tessera::cuda {
namespace {

/// Bytes of scratch memory beyond which C is computed in blocks; their shape changes no bits. Less where a quarter of
/// the device's memory is less.
constexpr std::size_t most_scratch = std::size_t{16} << 30;
constexpr Index least_block = 256; ///< rows and columns

const char* reject(const GemmKernel&, const GemmCall& call, const Capabilities& machine) noexcept {
  if (machine.compute_major != 9)
    return "its matrix instruction needs compute capability 9.0 (Hopper); use math mode strict";
  if (detail::int8::is_strict(call.k))
    return "the mode is the strict product where k is at most 1024 or above 2^30; use the kernel strict";
  return nullptr;
}

/// Halves the larger side of a block. Returns false if it is as small as it may be.
bool halve(Index& rows, Index& columns) {
  Index& larger = rows > columns ? rows : columns;
  if (larger <= least_block) return false;
  larger = (larger / 2 + least_block - 1) / least_block * least_block;
  return true;
}

Status run(const GemmKernel&, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  if (call.m == 0 || call.n == 0) return {};
  const cudaStream_t stream = stream_of(queue);
  const Capabilities& machine = executor.capabilities();
  const Index clusters = std::max(1, machine.multiprocessors / 2);
  const std::size_t most = std::min(most_scratch, machine.memory_bytes / 4);
  const auto bytes = [&](Index rows, Index columns) {
    return int8_units::Workspace(int8_units::block_of(call, 0, rows, 0, columns)).bytes();
  };
  Index rows = call.m, columns = call.n;
  while (bytes(rows, columns) > most && halve(rows, columns)) {
  }
  Scratch scratch;
  while (true) {
    Status status = scratch.allocate(executor, queue, bytes(rows, columns));
    if (status.ok()) break;
    if (status.code != StatusCode::OutOfMemory || !halve(rows, columns)) return status;
  }
  for (Index column = 0; column < call.n; column += columns)
    for (Index row = 0; row < call.m; row += rows) {
      const GemmCall block =
          int8_units::block_of(call, row, std::min(rows, call.m - row), column, std::min(columns, call.n - column));
      int8_units::Workspace workspace(block);
      workspace.lie_at(scratch.as<char>());
      if (Status status = int8_units::multiply(stream, block, workspace, clusters); !status.ok()) return status;
    }
  return {};
}

} // namespace

const GemmKernel int8_units_f64{.name = "int8_units",
                                .summary = "f64 by 8-bit matrix units: residues modulo 15 numbers, sums rounded once",
                                .source = "Ozaki, Uchino and Imamura 2025 (Ozaki scheme II)",
                                .type = DType::F64,
                                .math = Math::Int8Units,
                                .tile = {256, 256, 128},
                                .summation = Summation::WholeNumbers,
                                .reject = reject,
                                .run = run,
                                .epilogue = true};

} // namespace tessera::cuda
