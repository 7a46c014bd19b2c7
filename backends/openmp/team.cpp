#include "team.hpp"

#include <omp.h>

#include "cpu/thread_sanitizer.hpp"

namespace tessera::openmp {
namespace {

/// The size of this thread's last parallel region. libgomp keeps that many threads for each thread that calls it.
constinit thread_local int last_region = 1;

/// A place that all threads know, for ThreadSanitizer.
char in_order = 0;

class OpenMpTeam final : public cpu::Team {
 public:
  using Team::Team;

 private:
  /// Inside a parallel region the caller's sibling threads use the other processors.
  int limit_here(int threads) const override { return omp_in_parallel() ? 1 : threads; }

  void fork(int threads, cpu::SlotBody work) override {
    last_region = threads;
    cpu::before_others(&in_order);
#pragma omp parallel num_threads(threads)
    {
      cpu::after_others(&in_order);
      work(omp_get_thread_num());
      cpu::before_others(&in_order);
    }
    cpu::after_others(&in_order);
  }

  /// The workers of a region share out the loop that each of them comes to.
  void loop(Index count, int threads, cpu::TaskBody body, cpu::Schedule schedule) override {
    const auto share_out = [=](int slot) {
      if (schedule == cpu::Schedule::Static) {
#pragma omp for schedule(static) nowait
        for (Index task = 0; task < count; ++task) body(task, slot);
      } else if (schedule == cpu::Schedule::Dynamic) {
#pragma omp for schedule(dynamic) nowait
        for (Index task = 0; task < count; ++task) body(task, slot);
      } else {
#pragma omp for schedule(guided) nowait
        for (Index task = 0; task < count; ++task) body(task, slot);
      }
    };
    fork(threads, share_out);
  }

  int missing_for(int threads) const override { return threads - last_region; }
  void can_have(int) override {}
};

} // namespace

std::unique_ptr<cpu::Team> make_team(int threads) { return std::make_unique<OpenMpTeam>(threads); }

} // namespace tessera::openmp
