#include "openmp/team.hpp"

#include <omp.h>

namespace tessera::openmp {
namespace {

class OpenMpTeam final : public cpu::Team {
 public:
  using Team::Team;

 private:
  /// Inside a parallel region the caller's siblings have the other threads.
  int limit_here(int threads) const override { return omp_in_parallel() ? 1 : threads; }

  void fork(Index count, int threads, cpu::TaskBody body) override {
#pragma omp parallel num_threads(threads)
    {
      const int slot = omp_get_thread_num();
#pragma omp for schedule(dynamic, 1) nowait
      for (Index task = 0; task < count; ++task) body(task, slot);
    }
  }
};

} // namespace

std::unique_ptr<cpu::Team> make_team(int threads) { return std::make_unique<OpenMpTeam>(threads); }

} // namespace tessera::openmp
