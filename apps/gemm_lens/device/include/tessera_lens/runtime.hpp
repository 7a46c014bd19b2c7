#pragma once

/// The run-time library's functions, which the lens' headers of CUDA call.

#include <cstddef>
#include <tuple>

#include "shared_memory.hpp"
#include "vector_types.hpp"

extern const uint3 threadIdx, blockIdx;
extern const dim3 blockDim, gridDim;
constexpr int warpSize = 32;

void __syncthreads();
int __syncthreads_or(int predicate);
int __syncthreads_and(int predicate);
int __syncthreads_count(int predicate);
void __syncwarp(unsigned mask = 0xffffffff);

namespace tessera::lens {

/// What a warp's threads bring to a barrier of theirs, as bits.
unsigned long long exchange(unsigned mask, unsigned long long mine, unsigned source_lane);
unsigned ballot(unsigned mask, bool mine);
unsigned active_lanes();

/// Notes the access of an atomic operation.
void note_atomic(void* at, unsigned bytes);

/// Starts a copy of `bytes` bytes to shared memory, of which the last `zeros` are zeros instead. It is made when the
/// thread waits for it.
void start_copy(void* to, const void* from, unsigned bytes, unsigned zeros);
void commit_copies();
/// Waits until at most `groups` committed groups of this thread are under way.
void wait_for_copies(unsigned groups);

/// Ends the run: the kernel has reached an instruction of PTX, which the lens cannot run.
[[noreturn]] void unsupported(const char* what);

/// Where an address is in the window of shared memory, and back.
unsigned shared_offset(const void* at);
void* shared_address(unsigned offset);

/// `function`: the kernel, where its name is not known.
bool begin_launch(const char* kernel, int line, dim3 grid, dim3 block, std::size_t shared_bytes,
                  const void* function = nullptr);
void run_launch(void (*kernel)(const void*), const void* arguments);

/// A launch `kernel<<<grid, block, shared, stream>>>(arguments)`.
class Launcher {
 public:
  Launcher(const char* kernel, int line, dim3 grid, dim3 block, std::size_t shared_bytes = 0, const void* = nullptr)
      : runs_(begin_launch(kernel, line, grid, block, shared_bytes)) {}
  static Launcher of(const void* function, dim3 grid, dim3 block, std::size_t shared_bytes) {
    return Launcher(begin_launch("", 0, grid, block, shared_bytes, function));
  }
  template <class F, class... Arguments>
  void run(F kernel, Arguments... arguments) {
    if (!runs_) return;
    struct Call {
      F kernel;
      std::tuple<Arguments...> arguments;
    } call{kernel, {arguments...}};
    run_launch(
        [](const void* all) {
          const Call& mine = *static_cast<const Call*>(all);
          std::apply(mine.kernel, mine.arguments);
        },
        &call);
  }

 private:
  explicit Launcher(bool runs) : runs_(runs) {}
  bool runs_;
};

} // namespace tessera::lens
