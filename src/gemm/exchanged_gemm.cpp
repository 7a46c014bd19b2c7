#include "exchanged_gemm.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <tessera/backend/log.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>

#include "partly_written.hpp"
#include "streamed_gemm.hpp"
#include "worker_threads.hpp"

namespace tessera::detail {
namespace {

/// A device's part of C has at least so many rows or columns.
constexpr Index least_part = 64;

/// Returns how many rows or columns of C each device has; the last one may have fewer. Large parts are whole tiles of
/// the largest kernels.
Index part_of_side(Index side, Index devices) {
  constexpr Index tile = 256, large = 8 * tile;
  const Index part = (side + devices - 1) / devices;
  const Index tiles = (part + tile - 1) / tile * tile;
  return part >= large && tiles * (devices - 1) < side ? tiles : part;
}

class ExchangedProduct {
 public:
  ExchangedProduct(std::span<Executor* const> devices, const GemmCall& call, std::string_view kernel);

  /// Chooses blocks and allocates memory for them. `possible` is false where the devices would not have equally many.
  Status reserve(bool& possible);
  Status run(bool& possible);

 private:
  struct Member {
    Executor* device = nullptr;
    GemmCall call; ///< its part of the product
    std::unique_ptr<StreamedProduct> product;
  };

  Status named(const Member& member, Status status) const;
  void work(std::size_t number, SliceExchange& exchange) noexcept;

  const std::string_view kernel_;
  Sharing sharing_;
  std::vector<Member> members_;
  SliceDepths depths_;
  std::mutex mutex_;
  Status failure_;
  std::atomic<bool> written_ = false;
};

ExchangedProduct::ExchangedProduct(std::span<Executor* const> devices, const GemmCall& call, std::string_view kernel)
    : kernel_(kernel), sharing_{static_cast<Index>(devices.size()), true, call.n > call.m} {
  const Index side = std::max(call.m, call.n), part = part_of_side(side, sharing_.devices);
  for (Index i = 0; i < sharing_.devices; ++i) {
    const Index first = i * part, count = std::min(part, side - first);
    members_.push_back(
        {devices[static_cast<std::size_t>(i)],
         call_of(call, sharing_.of_a ? BlockOfC{0, first, call.m, count} : BlockOfC{first, 0, count, call.n}),
         nullptr});
  }
  for (Member& member : members_)
    member.product = std::make_unique<StreamedProduct>(*member.device, member.call, kernel_);
}

Status ExchangedProduct::named(const Member& member, Status status) const {
  if (!status.ok()) status.why = name_of(*member.device) + ": " + status.why;
  return status;
}

Status ExchangedProduct::reserve(bool& possible) {
  Index rows = 1, cols = 1, depth = members_.front().call.k;
  for (Member& member : members_) {
    if (Status status = member.product->reserve_share(sharing_); !status.ok()) return named(member, std::move(status));
    const StreamedBlocks& own = member.product->blocks();
    rows = std::max(rows, own.grid(member.call).rows());
    cols = std::max(cols, own.grid(member.call).cols());
    depth = std::min(depth, own.k);
  }
  for (Member& member : members_) {
    const auto cut = [](Index size, Index parts) { return (size + parts - 1) / parts; };
    const StreamedBlocks& own = member.product->blocks();
    const StreamedBlocks equal{cut(member.call.m, rows), cut(member.call.n, cols), depth};
    const BlockGrid grid = equal.grid(member.call);
    if (grid.rows() != rows || grid.cols() != cols) possible = false;
    if (!possible) return {};
    if (own.m == equal.m && own.n == equal.n && own.k == equal.k) continue; // it has the memory
    if (Status status = member.product->reserve(equal); !status.ok()) return named(member, std::move(status));
  }
  depths_ = members_.front().product->depths(sharing_);
  return {};
}

void ExchangedProduct::work(std::size_t number, SliceExchange& exchange) noexcept {
  const ContractArithmetic contract;
  Member& member = members_[number];
  Status status;
  try {
    member.product->exchange(exchange, number);
    SharedBlocks blocks(member.product->blocks().grid(member.call));
    HostSource source(member.call, blocks, depths_);
    HostTarget target(member.call);
    status = named(member, member.product->run(source, target, written_));
  } catch (const std::bad_alloc& error) {
    status = out_of_memory(error);
  }
  if (status.ok()) return;
  {
    const std::lock_guard lock(mutex_);
    if (failure_.ok()) failure_ = std::move(status);
  }
  exchange.stop();
}

Status ExchangedProduct::run(bool& possible) {
  std::vector<Executor*> devices;
  for (const Member& member : members_) devices.push_back(member.device);
  SliceExchange exchange(devices, sharing_.of_a);
  const auto work_for = [&](std::size_t number) { work(number, exchange); };
  const auto refused = [&](std::size_t) {
    possible = false;
    exchange.stop(); // before the first products: they need all members
  };
  work_beside_each_other(members_.size(), work_for, refused);
  if (!possible) return {};
  if (log_dispatch()) {
    const StreamedBlocks& blocks = members_.front().product->blocks();
    log_line("a product on " + std::to_string(members_.size()) + " devices, which exchanged " +
             (sharing_.of_a ? "A" : "B") + ": C in blocks of " + std::to_string(blocks.m) + "×" +
             std::to_string(blocks.n) + ", slices from " + std::to_string(depths_.first) + " k on");
  }
  return written_ ? partly_written(failure_) : failure_;
}

} // namespace

Status exchanged_gemm(std::span<Executor* const> executors, const GemmCall& call, std::string_view kernel,
                      bool& possible) noexcept try {
  const auto devices = static_cast<Index>(executors.size());
  possible = devices > 1 && are_alike(executors) && call.m > 0 && call.n > 0 &&
             std::max(call.m, call.n) >= least_part * devices;
  if (!possible) return {};
  if (Status status = SliceExchange::is_possible(executors, possible); !status.ok() || !possible) return status;
  ExchangedProduct product(executors, call, kernel);
  if (Status status = product.reserve(possible); !status.ok() || !possible) return status;
  return product.run(possible);
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

} // namespace tessera::detail
