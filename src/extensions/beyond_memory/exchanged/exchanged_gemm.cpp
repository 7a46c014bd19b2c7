#include "exchanged_gemm.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <tessera/backend/log.hpp>
#include <tessera/backend/out_of_memory.hpp>

#include "core/base/partly_written.hpp"
#include "core/base/thread_team.hpp"
#include "extensions/beyond_memory/streamed/streamed_gemm.hpp"

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
    GemmCall call; ///< its part of the product
    std::unique_ptr<StreamedProduct> product;
    std::unique_ptr<SharedBlocks> blocks; ///< of this device alone
    std::unique_ptr<HostSource> source;
    std::unique_ptr<HostTarget> target;
    bool has_slices = false; ///< all members have them in the same steps
  };

  template <class Step>
  Status for_each(Step&& step);
  Status multiply();

  const std::string_view kernel_;
  const std::vector<Executor*> devices_;
  Sharing sharing_;
  std::vector<Member> members_;
  std::vector<Status> statuses_; ///< of the members' last steps
  SliceExchange exchange_;
  std::atomic<bool> written_ = false;
  ThreadTeam team_;
};

ExchangedProduct::ExchangedProduct(std::span<Executor* const> devices, const GemmCall& call, std::string_view kernel)
    : kernel_(kernel),
      devices_(devices.begin(), devices.end()),
      sharing_{static_cast<Index>(devices.size()), true, call.n > call.m},
      members_(devices.size()),
      statuses_(devices.size()),
      exchange_(devices_, sharing_.of_a),
      team_(devices.size() - 1) {
  const Index side = std::max(call.m, call.n), part = part_of_side(side, sharing_.devices);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Index first = static_cast<Index>(i) * part, count = std::min(part, side - first);
    const BlockOfC c = sharing_.of_a ? BlockOfC{0, first, call.m, count} : BlockOfC{first, 0, count, call.n};
    members_[i].call = call_of(call, c);
    members_[i].product = std::make_unique<StreamedProduct>(*devices_[i], members_[i].call, kernel_);
  }
}

/// Calls step(member) for each member, on threads of the team. The Status is the first member's that fails, and names
/// its device.
template <class Step>
Status ExchangedProduct::for_each(Step&& step) {
  const auto task = [&](std::size_t i) {
    try {
      statuses_[i] = step(members_[i]);
    } catch (const std::bad_alloc& error) {
      statuses_[i] = out_of_memory(error);
    }
  };
  team_.run(members_.size(), std::ref(task));
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (statuses_[i].ok()) continue;
    statuses_[i].why = name_of(*devices_[i]) + ": " + statuses_[i].why;
    return statuses_[i];
  }
  return {};
}

Status ExchangedProduct::reserve(bool& possible) {
  const auto choose = [&](Member& member) { return member.product->reserve_share(sharing_); };
  if (Status status = for_each(choose); !status.ok()) return status;
  Index rows = 1, cols = 1, depth = members_.front().call.k;
  for (const Member& member : members_) {
    const StreamedBlocks& own = member.product->blocks();
    rows = std::max(rows, own.grid(member.call).rows());
    cols = std::max(cols, own.grid(member.call).cols());
    depth = std::min(depth, own.k);
  }
  const auto cut = [](Index size, Index parts) { return (size + parts - 1) / parts; };
  const auto equal = [&](const Member& member) {
    return StreamedBlocks{cut(member.call.m, rows), cut(member.call.n, cols), depth};
  };
  for (const Member& member : members_) {
    const BlockGrid grid = equal(member).grid(member.call);
    possible &= grid.rows() == rows && grid.cols() == cols;
  }
  if (!possible) return {};
  return for_each([&](Member& member) -> Status {
    const StreamedBlocks &own = member.product->blocks(), wanted = equal(member);
    const bool has_memory = own.m == wanted.m && own.n == wanted.n && own.k == wanted.k;
    return has_memory ? Status{} : member.product->reserve(wanted);
  });
}

/// All members load their parts of the slices of a step before one of them gathers the others' parts.
Status ExchangedProduct::multiply() {
  const SliceDepths depths = members_.front().product->depths(sharing_);
  const auto begin = [&](Member& member) {
    member.product->exchange(exchange_, static_cast<std::size_t>(&member - members_.data()));
    member.blocks = std::make_unique<SharedBlocks>(member.product->blocks().grid(member.call));
    member.source = std::make_unique<HostSource>(member.call, *member.blocks, depths);
    member.target = std::make_unique<HostTarget>(member.call);
    return member.product->begin(*member.source, *member.target, written_);
  };
  if (Status status = for_each(begin); !status.ok()) return status;
  while (true) {
    if (Status status = for_each([](Member& member) { return member.product->load(member.has_slices); }); !status.ok())
      return status;
    if (!members_.front().has_slices) return for_each([](Member& member) { return member.product->fetch_rest(); });
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
  // In any case, because the host's memory is in use until then.
  Status end = for_each([](Member& member) { return member.product->finish({}); });
  if (status.ok()) status = std::move(end);
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
