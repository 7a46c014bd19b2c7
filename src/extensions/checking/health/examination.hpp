#pragma once

/// One examination of the machine: rounds of tests until the time is over.

#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include <tessera/checking/health.hpp>
#include <tessera/detail/stopwatch.hpp>

#include "probes.hpp"

namespace tessera::health_check {

class Examination {
 public:
  explicit Examination(const HealthOptions& options);

  HealthReport run();

 private:
  /// A place of the machine.
  struct Place {
    Executor* executor;
    int core; ///< −1: none
    bool at_once;
  };

  void find_backends();
  void test_host(Executor& executor);
  void test_device(Executor& executor);
  void test_all(const Place& place, Queue& queue, int threads, std::size_t first_probe);
  void test(const Place& place, Queue& queue, std::size_t probe, const std::string& kernel, int threads, bool cold,
            std::vector<char>& result);
  const Problem* problem(std::size_t probe);
  void check_digest(Problem& made);
  void add_gap(std::string backend, std::string reason);
  bool is_over() const { return report_.rounds > 0 && watch_.seconds() >= options_.seconds; }

  HealthOptions options_;
  measure::HostStopwatch watch_;
  std::vector<Executor*> executors_;
  std::vector<int> cores_;
  std::mutex mutex_; ///< guards the members below
  std::vector<std::optional<Problem>> problems_;
  std::vector<bool> unusable_; ///< tests whose right result is not known on this machine
  std::map<std::tuple<Executor*, int, bool, std::size_t, std::string>, HealthFinding> tallies_;
  HealthReport report_;
};

} // namespace tessera::health_check
