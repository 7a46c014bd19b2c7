/// One product on several executors: each takes one block of C after the other, until none is left. A device's blocks
/// go through its memory, as in a product that does not fit there; an executor of the host multiplies in place. Equal
/// devices that reach one another's memory compute fixed parts of C instead (exchanged_gemm.hpp).
///
/// Source: cuBLASXt, whose devices take tiles of C in turn. Here no block waits for another device, and the bits do not
/// depend on the executor that computed it.

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <tessera/backend/log.hpp>
#include <tessera/backend/out_of_memory.hpp>

#include "core/base/partly_written.hpp"
#include "core/base/thread_team.hpp"
#include "core/gemm/block_sizes.hpp"
#include "exchanged_gemm.hpp"
#include "extensions/beyond_memory/streamed/streamed_gemm.hpp"

namespace tessera::detail {
namespace {

/// So many blocks for each executor let a faster one take more of them, and end at about the same time.
constexpr Index blocks_for_each = 8;
/// Smaller blocks would be bound by their copies.
constexpr Index least_side = 512;

/// An executor's part in the product.
struct Worker {
  Executor* executor = nullptr;
  std::unique_ptr<StreamedProduct> product; ///< of a device; null where the executor's memory is the host's
};

Status multiply_in_place(Executor& executor, const GemmCall& call, std::string_view kernel, SharedBlocks& blocks,
                         std::atomic<bool>& written) {
  for (BlockOfC block; blocks.take(block);) {
    Status status = executor.gemm(executor.default_queue(), call_of(call, block), kernel);
    if (status.ok()) status = executor.default_queue().synchronize();
    if (status.ok() || status.code == StatusCode::DeviceError) written = true;
    if (!status.ok()) return status;
  }
  return {};
}

/// A product on several executors. No block is begun before each device has its memory.
class SharedProduct {
 public:
  SharedProduct(std::span<Executor* const> executors, const GemmCall& call, std::string_view kernel)
      : call_(call), kernel_(kernel), alike_(are_alike(executors)) {
    for (Executor* executor : executors) workers_.push_back({executor, nullptr});
  }

  Status reserve();
  Status run();

 private:
  void work(Worker& worker, SharedBlocks& blocks) noexcept;
  BlockGrid grid() const;

  const GemmCall& call_;
  const std::string_view kernel_;
  const bool alike_;
  std::vector<Worker> workers_;
  Sharing sharing_;
  BlockGrid grid_;
  std::atomic<bool> written_ = false;
};

Status named(const Executor& executor, Status status) {
  if (!status.ok()) status.why = name_of(executor) + ": " + status.why;
  return status;
}

/// Returns blocks of C that each device has memory for.
BlockGrid SharedProduct::grid() const {
  BlockGrid grid{call_.m, call_.n, std::max<Index>(call_.m, 1), std::max<Index>(call_.n, 1)};
  for (const Worker& worker : workers_)
    if (worker.product != nullptr) {
      grid.block_m = std::min(grid.block_m, worker.product->blocks().m);
      grid.block_n = std::min(grid.block_n, worker.product->blocks().n);
    }
  if (alike_) return grid; // each device has chosen its share
  const Index enough = blocks_for_each * static_cast<Index>(workers_.size());
  while (grid.count() < enough && std::max(grid.block_m, grid.block_n) > least_side) {
    Index& longer = grid.block_m > grid.block_n ? grid.block_m : grid.block_n;
    longer = std::max(least_side, (longer + 1) / 2);
  }
  grid.block_m = evened(grid.m, grid.block_m);
  grid.block_n = evened(grid.n, grid.block_n);
  return grid;
}

Status SharedProduct::reserve() {
  sharing_.devices = std::count_if(workers_.begin(), workers_.end(),
                                   [](const Worker& worker) { return !worker.executor->capabilities().host_memory; });
  for (Worker& worker : workers_) {
    if (worker.executor->capabilities().host_memory) continue;
    worker.product = std::make_unique<StreamedProduct>(*worker.executor, call_, kernel_);
    if (Status status = worker.product->reserve_share(sharing_); !status.ok())
      return named(*worker.executor, std::move(status));
  }
  grid_ = grid();
  for (Worker& worker : workers_) {
    if (worker.product == nullptr) continue;
    const StreamedBlocks& own = worker.product->blocks();
    if (own.m == grid_.block_m && own.n == grid_.block_n) continue; // it has the memory
    if (Status status = worker.product->reserve(own.cut(grid_)); !status.ok())
      return named(*worker.executor, std::move(status));
  }
  return {};
}

void SharedProduct::work(Worker& worker, SharedBlocks& blocks) noexcept {
  Status status;
  try {
    if (worker.product == nullptr) {
      status = multiply_in_place(*worker.executor, call_, kernel_, blocks, written_);
    } else {
      HostSource source(call_, blocks, worker.product->depths(sharing_));
      HostTarget target(call_);
      status = worker.product->run(source, target, written_);
    }
    status = named(*worker.executor, std::move(status));
  } catch (const std::bad_alloc& error) {
    status = out_of_memory(error);
  }
  if (!status.ok()) blocks.fail(std::move(status));
}

/// The other executors compute the blocks of one that has no thread. When it gets one, or the caller, none is left.
Status SharedProduct::run() {
  SharedBlocks blocks(grid_);
  if (log_dispatch())
    log_line("a product on " + std::to_string(workers_.size()) + " executors: C in blocks of " +
             std::to_string(blocks.grid().block_m) + "×" + std::to_string(blocks.grid().block_n));
  ThreadTeam(workers_.size() - 1).run(workers_.size(), [&](std::size_t i) { work(workers_[i], blocks); });
  Status status = blocks.failure();
  return written_ ? partly_written(status) : status;
}

} // namespace

std::string name_of(const Executor& executor) {
  const Capabilities& machine = executor.capabilities();
  std::string name(to_string(machine.backend));
  if (!machine.host_memory) name.append(":").append(std::to_string(machine.device_index));
  return name.append(" (").append(machine.device).append(")");
}

bool are_alike(std::span<Executor* const> executors) {
  const std::string& model = executors.front()->capabilities().device;
  return std::all_of(executors.begin(), executors.end(), [&](const Executor* executor) {
    const Capabilities& machine = executor->capabilities();
    return !machine.host_memory && machine.device == model;
  });
}

void check_executors(std::span<Executor* const> executors) {
  if (executors.empty()) throw InvalidArgument("the list of executors is empty");
  for (std::size_t i = 0; i < executors.size(); ++i) {
    if (executors[i] == nullptr) throw InvalidArgument("executor " + std::to_string(i) + " of the list is null");
    const auto before = executors.first(i);
    if (std::find(before.begin(), before.end(), executors[i]) != before.end())
      throw InvalidArgument("the list of executors has " + name_of(*executors[i]) + " twice");
  }
}

Status streamed_gemm(std::span<Executor* const> executors, const GemmCall& call, std::string_view kernel) noexcept try {
  if (executors.size() == 1 && !executors[0]->capabilities().host_memory)
    return streamed_gemm(*executors[0], call, kernel);
  bool exchanged = false;
  if (Status status = exchanged_gemm(executors, call, kernel, exchanged); exchanged || !status.ok()) return status;
  SharedProduct product(executors, call, kernel);
  if (Status status = product.reserve(); !status.ok()) return status;
  return product.run();
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

} // namespace tessera::detail
