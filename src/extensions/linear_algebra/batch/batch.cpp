/// Batches: which systems are computed side by side, and which thread computes them.

#include <tessera/linear_algebra/batch.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tessera/backend.hpp>

#include "device_systems.hpp"
#include "extensions/linear_algebra/enter.hpp"
#include "extensions/linear_algebra/products.hpp"
#include "extensions/linear_algebra/substitution.hpp"
#include "single_systems.hpp"
#include "small_systems.hpp"

namespace tessera::linear_algebra {
namespace {

/// Systems of more rows than this have enough work for all threads.
constexpr Index most_on_a_thread = 512;
/// Operations that are worth the start of a thread.
constexpr double thread_worth = 200000;

/// What computes one item of a batch; each thread has one.
template <class Worker>
using Workers = std::vector<std::unique_ptr<Worker>>;

/// Calls compute(worker, i) for each of `items`, which the threads take as they come.
template <class T, class Worker, class Compute>
void share_out(const Products<T>& products, const Workers<Worker>& workers, Index items, const Compute& compute) {
  const auto count = static_cast<Index>(workers.size());
  const Index taken = std::max<Index>(1, items / (count * 16)); // few enough that no thread waits long for another
  std::atomic<Index> next{0};
  std::atomic<bool> has_failed{false};
  std::exception_ptr failure;
  const auto work = [&](Index begin, Index end) noexcept {
    for (Index w = begin; w < end; ++w) try {
        for (Index first = next.fetch_add(taken); first < items && !has_failed; first = next.fetch_add(taken))
          for (Index i = first; i < std::min(items, first + taken); ++i)
            compute(*workers[static_cast<std::size_t>(w)], i);
      } catch (...) {
        if (!has_failed.exchange(true)) failure = std::current_exception();
      }
  };
  if (count == 1)
    work(0, 1);
  else
    products.in_parts(count, 1, work);
  if (failure) std::rethrow_exception(failure);
}

template <class T>
double operations(const Systems<T>& x) {
  const auto n = static_cast<double>(x.n), m = static_cast<double>(x.m), columns = static_cast<double>(x.columns);
  return (is_complex<T> ? 4 : 1) * n * (m * n / 2 + 2 * n * columns + 16);
}

/// Returns how many threads have enough to do.
template <class T>
Index threads_of(const Systems<T>& systems, Index items, const Products<T>& products) {
  const double all = operations(systems) * static_cast<double>(systems.count);
  return std::clamp<Index>(std::min(items, static_cast<Index>(all / thread_worth)), 1, products.threads());
}

template <class T>
void compute_in_lanes(const Systems<T>& systems, const Products<T>& products) {
  const Index groups = (systems.count + lane_count<T> - 1) / lane_count<T>;
  Workers<LaneGroup<T>> workers;
  for (Index i = threads_of(systems, groups, products); i > 0; --i)
    workers.push_back(std::make_unique<LaneGroup<T>>(systems));
  share_out(products, workers, groups, [&](LaneGroup<T>& group, Index i) {
    const Index first = i * lane_count<T>;
    group.compute(first, std::min(lane_count<T>, systems.count - first));
  });
}

/// Are products computed in the host's memory? A device's executor and the formulas compute one system at a time.
bool is_on_host(Backend backend) {
  return backend == Backend::Auto || (backend != Backend::Reference && executor(backend).capabilities().host_memory);
}

template <class T>
void compute_one_by_one(const Systems<T>& systems, const Products<T>& products, const SolveOptions& options) {
  const Index threads = threads_of(systems, systems.count, products);
  const bool on_each_thread =
      is_on_host(options.backend) && std::max(systems.m, systems.n) <= most_on_a_thread && threads > 1;
  SolveOptions of_one = options;
  if (on_each_thread) of_one.threads = 1;
  Workers<SingleSystem<T>> workers;
  for (Index i = on_each_thread ? threads : 1; i > 0; --i)
    workers.push_back(std::make_unique<SingleSystem<T>>(systems, of_one));
  share_out(products, workers, systems.count, [](SingleSystem<T>& worker, Index i) { worker.compute(i); });
}

/// Returns the device that the caller named, if it has kernels for systems; null if not.
Executor* device_with_steps(Backend backend) {
  if (backend == Backend::Auto || backend == Backend::Reference) return nullptr;
  Executor& named = executor(backend);
  return named.capabilities().has_panels && !named.capabilities().host_memory ? &named : nullptr;
}

template <class T>
void compute_on_host(const Systems<T>& systems, const SolveOptions& options, const Products<T>& products) {
  // Systems of one panel have no products, which a device could compute.
  const bool may_be_in_lanes = is_on_host(options.backend) ||
                               (options.backend != Backend::Reference && std::max(systems.m, systems.n) <= panel_width);
  if (may_be_in_lanes && are_fit_for_lanes(systems))
    compute_in_lanes(systems, products);
  else
    compute_one_by_one(systems, products, options);
}

template <class T>
void compute_each(const Systems<T>& systems, const SolveOptions& options) {
  const Products<T> products(options);
  Index done = 0;
  if (Executor* const device = device_with_steps(options.backend); device != nullptr)
    done = compute_on_device(systems, products, *device);
  if (done < systems.count) compute_on_host(systems.from(done), options, products);
}

/// All systems have one matrix, which is factored once.
template <class T>
void compute_shared(const Systems<T>& systems, const SolveOptions& options) {
  const bool is_positive = systems.task == BatchTask::SolvePositive,
             is_turned = is_positive && systems.triangle == Triangle::Upper;
  const Index n = systems.n;
  const HostNumbers<T> factors(n * n);
  std::vector<Index> pivots(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      const T* const a = systems.a.first;
      factors.get()[i * n + j] = is_turned ? conjugated_if(true, a[j * systems.a.ld + i]) : a[i * systems.a.ld + j];
    }
  Index info = 0;
  Systems<T> one = systems;
  one.a = {factors.get(), n};
  one.task = is_positive ? BatchTask::Cholesky : BatchTask::Lu;
  one.triangle = Triangle::Lower;
  one.pivots = pivots.data();
  one.info = &info;
  one.count = 1;
  one.columns = 0;
  compute_each(one, options);
  std::fill_n(systems.info, systems.count, info);
  if (info != 0) return;
  one.task = is_positive ? BatchTask::CholeskySolve : BatchTask::LuSolve;
  one.info = nullptr;
  one.pivot_stride = 0;
  one.count = systems.count;
  one.columns = systems.columns;
  compute_each(one, options);
}

/// Throws FailedSystem where a system has failed.
void expect_solved(const char* function, BatchTask task, const std::vector<Index>& info) {
  const auto failed = [](Index one) { return one != 0; };
  const auto first = std::ranges::find_if(info, failed);
  if (first == info.end()) return;
  const Index system = first - info.begin();
  const auto others = std::ranges::count_if(info, failed) - 1;
  const bool is_positive = task == BatchTask::Cholesky || task == BatchTask::SolvePositive;
  const std::string why =
      is_positive ? "is not positive definite: its leading minor of order " + std::to_string(*first) + " is not"
                  : "is singular: pivot " + std::to_string(*first - 1) + " of its factorisation, counted from 0, is 0";
  throw FailedSystem(std::string(function) + ": the matrix of system " + std::to_string(system) + " " + why +
                         (others > 0 ? "; so it is with " + std::to_string(others) + " others" : std::string()) +
                         ". All other systems are done; pass info to go on without them",
                     system, *first);
}

void run_batch(const char* function, BatchTask task, const detail::SystemBatch& call, const SolveOptions& options) {
  enter(function, options, [&] {
    check_batch(function, task, call);
    const bool solves_alone = task == BatchTask::LuSolve || task == BatchTask::CholeskySolve;
    const bool must_succeed = !solves_alone && task != BatchTask::Lu && call.info == nullptr;
    std::vector<Index> own_info(must_succeed ? static_cast<std::size_t>(call.count) : 0);
    with_number(call.type, [&]<class T>(T) {
      Systems<T> systems(task, call);
      if (must_succeed) systems.info = own_info.data();
      if (solves_alone && systems.columns == 0) return;
      if (systems.count == 0 || systems.m == 0 || systems.n == 0) {
        if (systems.info != nullptr) std::fill_n(systems.info, systems.count, Index{0});
        return;
      }
      const bool factors = task == BatchTask::Solve || task == BatchTask::SolvePositive;
      const bool is_shared = factors && systems.a.all == nullptr && systems.a.stride == 0 && systems.count > 1;
      is_shared ? compute_shared(systems, options) : compute_each(systems, options);
    });
    expect_solved(function, task, own_info);
  });
}

} // namespace
} // namespace tessera::linear_algebra

namespace tessera::detail {

using linear_algebra::BatchTask;
using linear_algebra::run_batch;

void lu_batch(const SystemBatch& call, const SolveOptions& options) {
  run_batch("lu_batch", BatchTask::Lu, call, options);
}
void lu_solve_batch(const SystemBatch& call, const SolveOptions& options) {
  run_batch("lu_solve_batch", BatchTask::LuSolve, call, options);
}
void cholesky_batch(const SystemBatch& call, const SolveOptions& options) {
  run_batch("cholesky_batch", BatchTask::Cholesky, call, options);
}
void cholesky_solve_batch(const SystemBatch& call, const SolveOptions& options) {
  run_batch("cholesky_solve_batch", BatchTask::CholeskySolve, call, options);
}
void solve_batch(const SystemBatch& call, const SolveOptions& options) {
  run_batch("solve_batch", BatchTask::Solve, call, options);
}
void solve_positive_batch(const SystemBatch& call, const SolveOptions& options) {
  run_batch("solve_positive_batch", BatchTask::SolvePositive, call, options);
}
void inverse_batch(const SystemBatch& call, const SolveOptions& options) {
  run_batch("inverse_batch", BatchTask::Inverse, call, options);
}

bool solve_batch_on_device(std::span<const Operand> a, std::span<const Operand> x, bool are_complex,
                           const SolveOptions& options) {
  const auto info = linear_algebra::enter(
      "solve_batch", options, [&] { return linear_algebra::solve_where_they_are(a, x, are_complex, options); });
  if (info) linear_algebra::expect_solved("solve_batch", BatchTask::Solve, *info);
  return info.has_value();
}

} // namespace tessera::detail
