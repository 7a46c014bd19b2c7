#include "exchanged_gemm.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <tessera/backend/log.hpp>
#include <tessera/backend/out_of_memory.hpp>

#include "partly_written.hpp"
#include "streamed_gemm.hpp"

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
  Status run();

 private:
  struct Member {
    Executor* device = nullptr;
    GemmCall call; ///< its part of the product
    std::unique_ptr<StreamedProduct> product;
    std::unique_ptr<SharedBlocks> blocks; ///< of this device alone
    std::unique_ptr<HostSource> source;
    std::unique_ptr<HostTarget> target;
  };

  template <class Step>
  Status for_each(Step&& step);
  Status multiply();

  const std::string_view kernel_;
  const std::vector<Executor*> devices_;
  Sharing sharing_;
  std::vector<Member> members_;
  SliceExchange exchange_;
  std::atomic<bool> written_ = false;
};

ExchangedProduct::ExchangedProduct(std::span<Executor* const> devices, const GemmCall& call, std::string_view kernel)
    : kernel_(kernel),
      devices_(devices.begin(), devices.end()),
      sharing_{static_cast<Index>(devices.size()), true, call.n > call.m},
      members_(devices.size()),
      exchange_(devices_, sharing_.of_a) {
  const Index side = std::max(call.m, call.n), part = part_of_side(side, sharing_.devices);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Index first = static_cast<Index>(i) * part, count = std::min(part, side - first);
    const BlockOfC c = sharing_.of_a ? BlockOfC{0, first, call.m, count} : BlockOfC{first, 0, count, call.n};
    members_[i].device = devices_[i];
    members_[i].call = call_of(call, c);
    members_[i].product = std::make_unique<StreamedProduct>(*devices_[i], members_[i].call, kernel_);
  }
}

/// Calls step(member) for each member until one fails, whose device the Status names.
template <class Step>
Status ExchangedProduct::for_each(Step&& step) {
  for (Member& member : members_) {
    Status status = step(member);
    if (status.ok()) continue;
    status.why = name_of(*member.device) + ": " + status.why;
    return status;
  }
  return {};
}

Status ExchangedProduct::reserve(bool& possible) {
  Index rows = 1, cols = 1, depth = members_.front().call.k;
  const auto choose = [&](Member& member) {
    Status status = member.product->reserve_share(sharing_);
    const StreamedBlocks& own = member.product->blocks();
    rows = std::max(rows, own.grid(member.call).rows());
    cols = std::max(cols, own.grid(member.call).cols());
    depth = std::min(depth, own.k);
    return status;
  };
  if (Status status = for_each(choose); !status.ok()) return status;
  return for_each([&](Member& member) -> Status {
    const auto cut = [](Index size, Index parts) { return (size + parts - 1) / parts; };
    const StreamedBlocks& own = member.product->blocks();
    const StreamedBlocks equal{cut(member.call.m, rows), cut(member.call.n, cols), depth};
    const BlockGrid grid = equal.grid(member.call);
    if (grid.rows() != rows || grid.cols() != cols) possible = false;
    if (own.m == equal.m && own.n == equal.n && own.k == equal.k) return {}; // it has the memory
    return possible ? member.product->reserve(equal) : Status{};
  });
}

/// All members load their parts of the slices of a step before one of them gathers the others' parts.
Status ExchangedProduct::multiply() {
  const SliceDepths depths = members_.front().product->depths(sharing_);
  std::size_t number = 0;
  const auto begin = [&](Member& member) {
    member.product->exchange(exchange_, number++);
    member.blocks = std::make_unique<SharedBlocks>(member.product->blocks().grid(member.call));
    member.source = std::make_unique<HostSource>(member.call, *member.blocks, depths);
    member.target = std::make_unique<HostTarget>(member.call);
    return member.product->begin(*member.source, *member.target, written_);
  };
  if (Status status = for_each(begin); !status.ok()) return status;
  for (bool given = true;;) {
    if (Status status = for_each([&](Member& member) { return member.product->load(given); }); !status.ok())
      return status;
    if (!given) return for_each([](Member& member) { return member.product->fetch_rest(); });
    if (Status status = for_each([&](Member& member) { return member.product->multiply(); }); !status.ok())
      return status;
  }
}

Status ExchangedProduct::run() {
  if (log_dispatch()) {
    const StreamedBlocks& blocks = members_.front().product->blocks();
    log_line("a product on " + std::to_string(members_.size()) + " devices, which exchange " +
             (sharing_.of_a ? "A" : "B") + ": C in blocks of " + std::to_string(blocks.m) + "×" +
             std::to_string(blocks.n) + ", slices of " + std::to_string(blocks.k) + " k");
  }
  Status status;
  try {
    status = multiply();
  } catch (const std::bad_alloc& error) {
    status = out_of_memory(error);
  }
  for (Member& member : members_) { // in any case: the host's memory is in use until then
    const bool was_ok = status.ok();
    status = member.product->finish(std::move(status));
    if (was_ok && !status.ok()) status.why = name_of(*member.device) + ": " + status.why;
  }
  return written_ ? partly_written(status) : status;
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
  return product.run();
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

} // namespace tessera::detail
