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

  void loop(Index count, int threads, cpu::TaskBody body, cpu::Schedule schedule) override {
    last_region = threads;
    const auto run_task = [&](Index task) {
      cpu::after_others(&in_order);
      body(task, omp_get_thread_num());
      cpu::before_others(&in_order);
    };
    cpu::before_others(&in_order);
    if (schedule == cpu::Schedule::Static) {
#pragma omp parallel for schedule(static) num_threads(threads)
      for (Index task = 0; task < count; ++task) run_task(task);
    } else if (schedule == cpu::Schedule::Dynamic) {
#pragma omp parallel for schedule(dynamic) num_threads(threads)
      for (Index task = 0; task < count; ++task) run_task(task);
    } else {
#pragma omp parallel for schedule(guided) num_threads(threads)
      for (Index task = 0; task < count; ++task) run_task(task);
    }
    cpu::after_others(&in_order);
  }

  int missing_for(int threads) const override { return threads - last_region; }
  void can_have(int) override {}
};

} // namespace

std::unique_ptr<cpu::Team> make_team(int threads) { return std::make_unique<OpenMpTeam>(threads); }

} // namespace tessera::openmp
