#pragma once

/// What a rung of the processor asks of its executor, without the library around it: a lesson is one file, compiled in
/// a second. The compiler finds this header before the one of backends/cpu.

#include <omp.h>

#include <tessera/executor.hpp>

#include "cpu/body_reference.hpp"
#include "cpu/memory/scratch.hpp"

namespace tessera::cpu {

/// body(task, slot): the task's number, and the number of the thread that runs it.
using TaskBody = BodyReference<Index, int>;

enum class Schedule { Ranges, Static, Dynamic, Auto, Affinity };

class Team {
 public:
  void run(Index count, int threads, TaskBody body, Schedule = Schedule::Ranges) {
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (Index task = 0; task < count; ++task) body(task, omp_get_thread_num());
  }
};

class CpuExecutor {
 public:
#ifdef TESSERA_LESSON_CACHE_BYTES
  CpuExecutor() { capabilities_.l2_bytes = TESSERA_LESSON_CACHE_BYTES; } // of the model that counts
#endif
  Team& team() noexcept { return team_; }
  int threads_for(int asked) const noexcept { return asked > 0 ? asked : 1; }
  const Capabilities& capabilities() const noexcept { return capabilities_; }
  ScratchPool& scratch() noexcept { return scratch_; }

  /// Transposes, which is the one thing that a rung of the textbook asks for.
  Status map(Queue&, const MapCall& call) noexcept {
    const auto transpose = [&]<class T>(T) {
      const T* from = static_cast<const T*>(call.x);
      T* to = static_cast<T*>(call.z);
      team_.run(call.rows, call.threads, [&](Index i, int) {
        for (Index j = 0; j < call.cols; ++j) to[i * call.ldz + j] = from[j * call.ldx + i];
      });
    };
    if (call.type == DType::F64)
      transpose(0.0);
    else
      transpose(0.0F);
    return {};
  }

 private:
  Team team_;
  Capabilities capabilities_{};
  ScratchPool scratch_;
};

/// The adapter gives a rung a CpuExecutor for its Executor.
inline CpuExecutor& cpu_of(Executor& executor) { return reinterpret_cast<CpuExecutor&>(executor); }

} // namespace tessera::cpu
