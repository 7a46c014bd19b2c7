#pragma once

/// Times and checks the kernels of one group.

#include <chrono>
#include <memory>
#include <optional>
#include <set>

#include "board.hpp"
#include "ceilings.hpp"
#include "check/product_check.hpp"
#include "judged_kernels.hpp"
#include "operands.hpp"

namespace tessera::compare_app {

/// The state that all groups share.
struct Bench {
  const Options& options;
  Board& board;
  Progress& progress;
  apps::CeilingTable& ceilings;
  JudgedKernels& judged;
  bool demanded_missing = false;     ///< a backend that the command line names cannot run an operation
  std::set<Backend> unverified = {}; ///< backends of which --verify was said to show nothing

  /// Says on stderr that such a backend cannot run an operation, and why.
  void miss(Backend backend, const std::string& why);
  /// Says on stderr, once for each backend, that its products cannot verify themselves.
  void note_unverified(Backend backend);
};

/// Threads of one library may spin for a while after their work and would slow the next one down.
inline constexpr std::chrono::milliseconds until_threads_sleep{20};
/// Threads that slept take a moment to wake up or to be made: some 50 µs, or milliseconds on some virtual machines.
/// That does not show in runs that are longer than these seconds.
inline constexpr double waking_shows_below = 10e-3;

/// A kernel in the race, or an operation on one backend.
struct Contender {
  Task task;
  Result result;
  int runs = 0; ///< that are still to be timed

  bool active() const { return result.verdict == Verdict::Pending; }
  /// Takes it out of the race.
  void fail(const Status& status) {
    result.verdict = status.code == StatusCode::Rejected ? Verdict::Rejected : Verdict::Failed;
    result.reason = status.why;
    runs = 0;
  }
};

/// Runs the products of one shape and type. For each backend it rejects or estimates every kernel, times the kernels
/// turn by turn, and checks the output of each kernel's last timed run. `given`: the data; null: random data.
/// `product`: null, or takes the first result that passes, laid out as Problem::c.
class GemmRunner {
 public:
  GemmRunner(Bench& bench, const Group& group, const GivenData* given, std::vector<std::byte>* product);
  ~GemmRunner();
  void run();
  /// The name of the kernel whose result is in `product`.
  const std::string& product_by() const { return product_by_; }

 private:
  struct Entry;

  void run_judged(std::size_t kernel, std::size_t position);
  void run_backend(std::size_t first, std::size_t last);
  bool admit(Entry& entry);
  double estimate(Entry& entry);
  void choose_timing(std::size_t first, std::size_t last);
  void sample(Entry& entry, std::size_t set);
  void sample_verified(Entry& entry);
  std::size_t next_set();
  void check(Entry& entry);
  void keep_product(const Entry& entry, const void* c);

  Bench& bench_;
  const Group& group_;
  Problem problem_;
  Operands host_;
  std::optional<Operands> device_; ///< of the backend that is running, if its memory is not the host's
  const Operands* operands_ = nullptr;
  ProductCheck check_;
  std::vector<Entry> entries_;
  std::vector<std::byte>* product_;
  std::string product_by_;
  std::size_t next_set_ = 0;
};

/// Operations that an entry is expected to cost, for the progress bar.
double expected_operations(const Options& options, const GemmShape& shape);

} // namespace tessera::compare_app
