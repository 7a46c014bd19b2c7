#include "device_messages.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "device_panels.hpp"
#include "extensions/distributed/agreement.hpp"

namespace tessera::distributed {
namespace {

constexpr const char* name_of_check = "device_messages";
constexpr const char* what_works =
    "; leave device_messages out: by default panels go through the host's memory, which works with every MPI";

/// Bytes of the broadcasts. MPIs send short and long messages in different ways.
constexpr std::size_t trial_bytes[]{std::size_t{1} << 10, std::size_t{256} << 10};
constexpr std::size_t most_trial_bytes = trial_bytes[1];

/// Returns a byte that a root sends. Neighbours, roots and sizes differ.
char sent_byte(std::size_t place, int root, std::size_t bytes) noexcept {
  return static_cast<char>(place * 37 + place / 256 + static_cast<std::size_t>(root) * 11 + bytes / 1024);
}

/// Returns why MPI cannot be given the executor's memory; Ok if that may be tried.
Status ask(const Communicator& ranks, const Executor& executor) {
  const Capabilities& of = executor.capabilities();
  if (of.host_memory) return {};
  const DevicePointers answer = ranks.device_pointers();
  if (answer == DevicePointers::Taken) return {};
  return {StatusCode::Unavailable,
          (answer == DevicePointers::Refused
               ? "MPI says that it takes no pointers to memory of a device (MPIX_Query_cuda_support() is 0)"
               : "MPI does not say whether it takes pointers to memory of a device (it has no "
                 "MPIX_Query_cuda_support)") +
              std::string(", and the rank multiplies on ") + of.device + what_works};
}

/// The memory of a trial on one rank.
class Trial {
 public:
  explicit Trial(Executor& executor) : executor_(executor), panels_(executor) {}

  Status allocate(int ranks) {
    host_.resize(most_trial_bytes);
    return panels_.allocate(1, most_trial_bytes, ranks);
  }
  /// Broadcasts from each rank in turn, and allocates nothing. Returns a failure of MPI; failure() and difference()
  /// have what else went wrong.
  Status run_along(Communicator& ranks, const char* along) noexcept {
    for (const std::size_t bytes : trial_bytes)
      for (int root = 0; root < ranks.size(); ++root) {
        const bool sends = root == ranks.rank();
        for (std::size_t i = 0; i < bytes; ++i)
          host_[i] = static_cast<char>(sent_byte(i, root, bytes) ^ (sends ? 0 : -1));
        panels_.put(panels_.slot(0), host_.data(), bytes, bytes, 1);
        Traffic traffic;
        if (Status status = panels_.begin_broadcast(ranks, panels_.slot(0), bytes, root, traffic); !status.ok())
          return status;
        if (Status status = panels_.end_broadcasts(ranks, traffic); !status.ok()) return status;
        compare(root, bytes, along);
      }
    return {};
  }
  /// Returns what failed of the copies to and from the executor's memory on this rank.
  Status failure() const { return panels_.failure().ok() ? copying_ : panels_.failure(); }
  /// Returns which byte did not arrive on this rank.
  Status difference() const {
    if (first_.along == nullptr) return {};
    return {StatusCode::Unavailable, "byte " + std::to_string(first_.place) + " of " + std::to_string(first_.bytes) +
                                         ", which rank " + std::to_string(first_.root) + " of the process " +
                                         first_.along +
                                         " sent from the memory of its backend, did not arrive in the memory of " +
                                         executor_.capabilities().device + what_works};
  }
  /// Leaves the memory to the process for good.
  void abandon() noexcept { panels_.abandon(); }

 private:
  /// A byte that did not arrive.
  struct Byte {
    std::size_t place = 0, bytes = 0;
    int root = 0;
    const char* along = nullptr; ///< null: all have arrived
  };

  void compare(int root, std::size_t bytes, const char* along) noexcept {
    Status copied =
        executor_.copy_out(executor_.default_queue(), host_.data(), bytes, panels_.slot(0), bytes, bytes, 1);
    if (copying_.ok()) copying_ = std::move(copied);
    for (std::size_t i = 0; first_.along == nullptr && i < bytes; ++i)
      if (host_[i] != sent_byte(i, root, bytes)) first_ = {i, bytes, root, along};
  }

  Executor& executor_;
  DevicePanels panels_;
  std::vector<char> host_;
  Status copying_;
  Byte first_;
};

Status run_trial(tessera::detail::GridState& grid, Trial& trial) {
  if (!grid.has_place()) return {};
  if (Status status = trial.run_along(*grid.row, "row"); !status.ok()) return status;
  if (Status status = trial.run_along(*grid.col, "column"); !status.ok()) return status;
  return trial.failure();
}

} // namespace

Status check_device_messages(tessera::detail::GridState& grid, Executor& executor) noexcept {
  Communicator& world = *grid.world;
  std::int64_t unchecked = grid.sends_from == &executor ? 0 : 1;
  if (Status status = world.largest(&unchecked, 1); !status.ok() || unchecked == 0) return status;
  Trial trial(executor);
  Status mine = guarded([&] {
    Status asked = ask(world, executor);
    return asked.ok() ? trial.allocate(std::max(grid.shape.rows, grid.shape.cols)) : asked;
  });
  if (Status status = agree(world, name_of_check, mine); !status.ok()) return status;
  mine = guarded([&] { return run_trial(grid, trial); });
  if (!world.broken().ok()) trial.abandon();
  if (Status status = agree(world, name_of_check, mine); !status.ok()) return status;
  // Where a rank's copies failed, others saw wrong bytes, so that differences come last.
  mine = guarded([&] { return trial.difference(); });
  if (Status status = agree(world, name_of_check, mine); !status.ok()) return status;
  grid.sends_from = &executor;
  return {};
}

} // namespace tessera::distributed
