/// Products of matrices in row blocks: arguments are checked, blocks are brought to their executors, and each executor
/// multiplies its rows with strips of B (strips.hpp).

#include <tessera/beyond_memory/row_blocks.hpp>
#include <tessera/detail/uncancelled.hpp>

#include <deque>
#include <new>
#include <string>
#include <utility>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>

#include "core/gemm/check_gemm.hpp"
#include "core/matrix/operand.hpp"
#include "extensions/beyond_memory/streamed/streamed_gemm.hpp"
#include "strips.hpp"

namespace tessera::detail {
namespace {

std::string names_of(std::span<Executor* const> executors) {
  std::string names;
  for (const Executor* executor : executors) names += (names.empty() ? "" : ", ") + name_of(*executor);
  return names;
}

void check_lists(const BlockList& x, const char* name, const BlockList& c) {
  if (!std::equal(x.executors.begin(), x.executors.end(), c.executors.begin(), c.executors.end()))
    throw InvalidArgument(std::string("gemm: ") + name + " is on " + names_of(x.executors) + ", and c on " +
                          names_of(c.executors) + "; the matrices of a product are on one list of executors");
  for (std::size_t i = 0; i < x.blocks.size(); ++i)
    if (x.blocks[i].storage == c.blocks[i].storage)
      throw InvalidArgument(std::string("gemm: c is ") + name + "; the product needs a separate result");
}

void check(const BlockList& a, const BlockList& b, const BlockList& c, const GemmOptions& options) {
  check_no_backend(options);
  if (const std::string why = inner_mismatch(a.rows, a.cols, b.rows, b.cols); !why.empty())
    throw InvalidArgument("gemm: " + why);
  if (c.rows != a.rows || c.cols != b.cols)
    throw InvalidArgument("gemm: c is " + shape(c.rows, c.cols) + ", but a·b is " + shape(a.rows, b.cols));
  check_lists(a, "a", c);
  check_lists(b, "b", c);
}

/// Returns the address of the operand's first stored element in host memory.
char* at_host(const Operand& x, void* whole) { return static_cast<char*>(place_of(x, {whole, x.storage->ld()}).data); }

} // namespace

void check_row_blocks(std::span<Executor* const> executors, Index rows, Index cols) {
  check_executors(executors);
  if (rows < 0 || cols < 0) throw InvalidArgument("row blocks of " + shape(rows, cols) + ": a size is negative");
}

void copy_to_block(Executor& executor, const Operand& whole, const Operand& block) {
  if (whole.op != Op::None) {
    copy(whole, block);
    return static_cast<void>(DeviceHold(block, executor).read());
  }
  const char* const from = at_host(whole, const_cast<void*>(whole.storage->host_read()));
  const Placed to = write_on(block, executor, true);
  if (block.rows > 0 && block.cols > 0)
    throw_if_failed(executor.copy_in(executor.default_queue(), to.data, bytes_of(to.ld, block), from,
                                     bytes_of(whole.storage->ld(), whole), bytes_of(block.cols, block),
                                     static_cast<std::size_t>(block.rows)));
  written_on(block, executor);
}

void copy_from_block(Executor& executor, const Operand& block, const Operand& whole) {
  if (whole.op != Op::None) return copy(block, whole);
  DeviceHold holds_block(block, executor);
  const Placed from = holds_block.read();
  char* const to = at_host(whole, whole.storage->host_write());
  if (block.rows == 0 || block.cols == 0) return;
  throw_if_failed(executor.copy_out(executor.default_queue(), to, bytes_of(whole.storage->ld(), whole), from.data,
                                    bytes_of(from.ld, block), bytes_of(block.cols, block),
                                    static_cast<std::size_t>(block.rows)));
}

void gemm(double alpha, const BlockList& a, const BlockList& b, double beta, const BlockList& c,
          const GemmOptions& options) try {
  const Uncancelled whole;
  const ContractArithmetic contract;
  check(a, b, c, options);
  if (c.rows == 0 || c.cols == 0) return;
  std::deque<DeviceHold> holds;
  const auto read = [&](const Operand& x, Executor& executor) { return holds.emplace_back(x, executor).read(); };
  std::vector<Share> shares;
  for (std::size_t i = 0; i < c.executors.size(); ++i) {
    Executor& executor = *c.executors[i];
    shares.push_back({&executor, c.blocks[i].rows, b.blocks[i].rows, read(a.blocks[i], executor),
                      read(b.blocks[i], executor), write_on(c.blocks[i], executor, beta == 0.0)});
  }
  for (Executor* executor : c.executors) throw_if_failed(executor->default_queue().synchronize());
  const GemmCall call{{.type = a.blocks.front().storage->type(),
                       .math = options.math,
                       .m = c.rows,
                       .n = c.cols,
                       .k = a.cols,
                       .alpha = alpha,
                       .beta = beta,
                       .threads = options.threads},
                      c.blocks.front().storage->type()};
  throw_if_failed(multiply_strips(shares, call, options.kernel));
  for (std::size_t i = 0; i < c.executors.size(); ++i) written_on(c.blocks[i], *c.executors[i]);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera::detail
