#include "cpu/team.hpp"

#include <algorithm>

namespace tessera::cpu {

Team::~Team() = default;

void Team::run(Index count, int threads, TaskBody body) {
  if (count <= 0) return;
  int wanted = static_cast<int>(std::min<Index>(count, threads));
  if (wanted > 1) wanted = limit_here(wanted);
  if (wanted > 1) {
    // The caller's own thread is there in any case; what is taken from the budget are helpers for it.
    const int before = in_use_.fetch_add(wanted);
    const int got = before == 0 ? wanted : std::clamp(budget_ - before, 1, wanted);
    in_use_.fetch_sub(wanted - got);
    if (got > 1) {
      fork(count, got, body);
      in_use_.fetch_sub(got);
      return;
    }
    in_use_.fetch_sub(got);
  }
  for (Index task = 0; task < count; ++task) body(task, 0);
}

} // namespace tessera::cpu
