#pragma once

/// How run.hpp's functions run a functor: the part that is compiled for each functor. What does not depend on the
/// functor's type is in libtessera (src/extensions/user_kernels).

#include <atomic>
#include <new>
#include <type_traits>
#include <vector>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/user_kernel/host_loop.hpp>
#include <tessera/user_kernel/spirv_table.hpp>
#include <tessera/user_kernel/table.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

/// The plug-in of this program, as tessera_add_kernels() names it, and an address in the program, beside which it lies.
struct KernelPlugin {
  const char* file;
  const void* address;
};
namespace {
[[maybe_unused]] constexpr char kernel_plugin_anchor = 0;
#if defined(TESSERA_USER_KERNELS)
[[maybe_unused]] constexpr KernelPlugin kernel_plugin{TESSERA_USER_KERNELS, &kernel_plugin_anchor};
#else
[[maybe_unused]] constexpr KernelPlugin kernel_plugin{"", &kernel_plugin_anchor};
#endif
} // namespace

/// Everything about a run but the functor's type.
struct KernelRun {
  Executor& executor;
  Queue& queue;
  KernelOp op;
  int dimensions;
  Index rows;
  Index cols;
  const void* functor;
  std::size_t size;
  std::size_t alignment;
  const char* name;
  LoopOptions options;
  KernelPlugin plugin;
};

/// Checks sizes and views. Returns the stride bits of the tags of all views. Throws InvalidArgument.
TESSERA_API std::uint64_t check_run(const KernelRun& run);
/// Runs a loop on the host; `grain` is for options that name none.
TESSERA_API void run_on_host(const KernelRun& run, Index count, Index grain, RangeBody body, const void* context);
/// Where a functor's device code was found: in the plug-in for CUDA, and in the one with SPIR-V. Null: not yet.
struct KnownDeviceCode {
  std::atomic<const KernelEntry*> cuda = nullptr;
  std::atomic<const SpirvTable*> spirv_table = nullptr; ///< set before `spirv`
  std::atomic<const SpirvFunctor*> spirv = nullptr;
};
/// Runs the functor's device code. `known` keeps where it was found. The result, of `value_size` bytes, goes to
/// `value`, which is null where there is none. Throws.
TESSERA_API void run_on_device(const KernelRun& run, KnownDeviceCode& known, void* value, std::size_t value_size);

/// The place of a functor's device code, looked up once. It is hidden: two libraries in a process may have different
/// functors with one C++ name, each with a plug-in of its own.
template <class F>
__attribute__((visibility("hidden"))) KnownDeviceCode& known_code() noexcept {
  static KnownDeviceCode known;
  return known;
}

template <class F>
KernelRun run_of(Executor& executor, Queue& queue, KernelOp op, int dimensions, Index rows, Index cols, const F& f,
                 const LoopOptions& options) {
  return {executor, queue, op, dimensions, rows, cols, &f, sizeof(F), alignof(F), F::name, options, kernel_plugin};
}

template <int dimensions, class F>
void run_for_each(Executor& executor, Queue& queue, Index rows, Index cols, const F& f, const LoopOptions& options) {
  require_call<F, dimensions>();
  static_assert(std::is_void_v<ReturnOf<F, dimensions>>,
                "for_each drops what a functor returns: let the call operator return void, or call sum, min, max or "
                "reduce");
  const KernelRun run = run_of(executor, queue, KernelOp::ForEach, dimensions, rows, cols, f, options);
  const std::uint64_t strides = check_run(run);
  if (rows == 0 || cols == 0) return;
  if (!executor.capabilities().host_memory) return run_on_device(run, known_code<F>(), nullptr, 0);
  CaughtException caught;
  const LoopContext<F, char> loop{&f, cols, rows * cols, nullptr, &caught};
  run_on_host(run, loop.count, 4096, choose_body<ForEachLoop, dimensions, F, char>(strides), &loop);
  caught.rethrow();
}

/// Combines the functor's values by the rule; the identity where there are none.
template <int dimensions, class Rule, class F>
typename Rule::Value run_reduction(Executor& executor, Queue& queue, KernelOp op, const Rule& rule, Index rows,
                                   Index cols, const F& f, const LoopOptions& options) try {
  using Value = typename Rule::Value;
  const KernelRun run = run_of(executor, queue, op, dimensions, rows, cols, f, options);
  const std::uint64_t strides = check_run(run);
  if (rows == 0 || cols == 0) return rule.identity();
  if (!executor.capabilities().host_memory) {
    Value value = rule.identity();
    run_on_device(run, known_code<F>(), &value, sizeof value);
    return value;
  }
  CaughtException caught;
  const Index chunks = chunks_of(rows * cols);
  auto values = sized_vector<Value>(static_cast<std::size_t>(chunks), "the chunks of a reduction");
  const LoopContext<F, Value> loop{&f, cols, rows * cols, values.data(), &caught};
  run_on_host(run, chunks, 16, choose_body<ReduceLoop<Rule>, dimensions, F, Value>(strides), &loop);
  caught.rethrow();
  const ContractArithmetic contract;
  return fold_levels(rule, values.data(), chunks);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

template <int dimensions, class F>
constexpr void require_values() {
  require_call<F, dimensions>();
  static_assert(is_reducible<ReturnOf<F, dimensions>>,
                "sum, min and max take functors that return float, double or std::int64_t: convert the result");
}
template <int dimensions, class F>
auto run_sum(Executor& executor, Queue& queue, Index rows, Index cols, const F& f, const LoopOptions& options) {
  require_values<dimensions, F>();
  return run_reduction<dimensions>(executor, queue, KernelOp::Sum, SumRule<ReturnOf<F, dimensions>>{}, rows, cols, f,
                                   options);
}
TESSERA_API void require_extremum(const char* functor, Index rows, Index cols);
template <int dimensions, bool largest, class F>
auto run_extremum(Executor& executor, Queue& queue, Index rows, Index cols, const F& f, const LoopOptions& options) {
  require_values<dimensions, F>();
  using T = ReturnOf<F, dimensions>;
  require_extremum(F::name, rows, cols);
  const auto found = run_reduction<dimensions>(executor, queue, largest ? KernelOp::Max : KernelOp::Min,
                                               ExtremumRule<T, largest>{}, rows, cols, f, options);
  return Extremum<T>{found.value, found.place / cols, found.place % cols};
}
template <int dimensions, class F, class Combine>
auto run_reduce(Executor& executor, Queue& queue, Index rows, Index cols, const F& f, const Combine& combine,
                const LoopOptions& options) {
  require_call<F, dimensions>();
  require_functor<Combine>();
  const Reduction<F, Combine> reduction{f, combine};
  return run_reduction<dimensions>(executor, queue, KernelOp::Reduce, CombineRule<Combine>{combine}, rows, cols,
                                   reduction, options);
}
TESSERA_API void check_scan(const ViewRecord& in, const ViewRecord& out);
template <class T>
void run_scan(Executor& executor, Queue& queue, const In<T>& in, const Out<T>& out, const LoopOptions& options) try {
  check_scan(__builtin_bit_cast(ViewRecord, in), __builtin_bit_cast(ViewRecord, out));
  const Index count = in.size();
  const Scan<T> scan{in, out};
  const KernelRun run = run_of(executor, queue, KernelOp::Scan, 1, 1, count, scan, options);
  const std::uint64_t strides = check_run(run);
  if (count == 0) return;
  if (!executor.capabilities().host_memory) return run_on_device(run, known_code<Scan<T>>(), nullptr, sizeof(T));
  CaughtException caught;
  const Index chunks = chunks_of(count);
  auto totals = sized_vector<T>(static_cast<std::size_t>(chunks), "the chunks of a scan");
  const LoopContext<Scan<T>, T> loop{&scan, count, count, totals.data(), &caught};
  run_on_host(run, chunks, 16, choose_body<ScanLoop, 1, Scan<T>, T>(strides), &loop);
  if (chunks == 1) return;
  {
    const ContractArithmetic contract;
    scan_totals(totals.data(), chunks);
  }
  const auto at = __builtin_bit_cast(ViewRecord, out);
  const Scan<T> again{In<T>(at.data, at.rows, at.cols, at.row_stride, at.col_stride, out.backend()), out};
  const LoopContext<Scan<T>, T> second{&again, count, count, totals.data(), &caught};
  run_on_host(run, chunks, 16, choose_body<AddBeforeLoop, 1, Scan<T>, T>(strides), &second);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
