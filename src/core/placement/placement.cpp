#include "placement.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <exception>
#include <mutex>
#include <new>
#include <optional>

#include <tessera/backend.hpp>
#include <tessera/backend/fork.hpp>
#include <tessera/backend/host_executor.hpp>
#include <tessera/backend/log.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/int8_units.hpp>
#include <tessera/files.hpp>
#include <tessera/performance/offload.hpp>
#include <tessera/status.hpp>

#include "core/backends/default_backend.hpp"
#include "core/backends/registry.hpp"
#include "core/base/reentry.hpp"

namespace tessera {
namespace {

/// Counts the times that something is asked for which lacked memory. It is tried again for the 1st, 2nd, 4th, 8th
/// product and so on, because a try may take long.
class Tries {
 public:
  bool is_due() { return std::has_single_bit(++asked_); }

 private:
  unsigned asked_ = 0;
};

/// The executor that Auto prefers among those in one kind of memory. It is a constant-initialized variable: a fork in
/// another thread would leave the child with one whose initialization never ends.
class PreferredExecutor {
 public:
  constexpr explicit PreferredExecutor(Memory memory) : memory_(memory) {}

  /// Null if there is none or it is not available, because Auto may fall back. The lock is not held while plug-ins are
  /// loaded: another thread may hold the dynamic loader's lock, in the constructor of a library that waits for this
  /// one.
  Executor* get() {
    if (settled_.load(std::memory_order_acquire)) return executor_;
    bool settled = false;
    if (Reentry::is_within(this)) return preferred_executor(memory_, settled); // code that is being loaded asks
    const WholeAcrossFork action;
    {
      const std::lock_guard lock(mutex_);
      if (settled_ || (lacked_memory_ && !tries_.is_due())) return executor_;
    }
    const Reentry here(this);
    Executor* const found = preferred_executor(memory_, settled);
    const std::lock_guard lock(mutex_);
    if (settled_) return executor_; // another thread was faster
    executor_ = found;
    lacked_memory_ = !settled;
    settled_.store(settled, std::memory_order_release);
    return executor_;
  }

 private:
  const Memory memory_;
  std::mutex mutex_;
  std::atomic<bool> settled_ = false; ///< no plug-in lacked memory: the members below do not change any more
  std::atomic<Executor*> executor_ = nullptr;
  bool lacked_memory_ = false; ///< when plug-ins were loaded last
  Tries tries_;                ///< since then
};

/// Logs which executor serves what Auto leaves on the host, once and whenever it is another one.
Executor& logged(Executor& host, const char* why) {
  static constinit std::atomic<const Executor*> said = nullptr;
  if (log_dispatch() && said.exchange(&host) != &host)
    log_line("auto: work on the host runs on " + std::string(to_string(host.capabilities().backend)) + ", " + why);
  return host;
}

/// The executor of what Auto leaves on the host.
Executor& host_executor() {
  if (const Backend named = backend_of_environment(); named != Backend::Auto && memory_of(named) == Memory::Host)
    return logged(*executor_of_environment(), "which TESSERA_BACKEND names");
  if (Executor* const named = first_named_on_host()) return logged(*named, "which the program named first");
  static constinit PreferredExecutor best(Memory::Host);
  Executor* const found = best.get();
  return logged(found != nullptr ? *found : named_executor(Backend::Reference), "the best one that is available");
}

Executor* device_of(std::initializer_list<const detail::Operand*> operands) {
  for (const detail::Operand* operand : operands)
    if (Executor* device = operand->storage->resident_on()) return device;
  return nullptr;
}

/// Products with fewer multiply-adds than a cube of this side stay on the host, because copies and launches alone take
/// longer.
constexpr Index never_worth_it_side = 192;
constexpr double never_worth_it = double{never_worth_it_side} * never_worth_it_side * never_worth_it_side;

Executor* device_for_auto() {
  static constinit PreferredExecutor device(Memory::Device);
  Executor* const found = device.get();
  return found != nullptr && !is_lost(*found) ? found : nullptr;
}

/// The rates of the device for an element type. There are none before the first product asks, and where the device
/// could not be measured.
struct KnownRates {
  std::mutex mutex;
  bool settled = false;
  Tries tries;           ///< counted while memory was too short to measure
  bool not_kept = false; ///< the file does not have them, and inside a parallel region they could not be measured
  std::optional<OffloadRates> rates;
};

/// Returns the rates, which are measured when the first product asks for them outside a parallel region.
std::optional<OffloadRates> rates_of(Executor& device, DType type) {
  static std::array<KnownRates, element_types.size()> all;
  KnownRates& known = all[element_types.place_of(scalar_of(type))];
  if (Reentry::is_within(&known)) return std::nullopt; // a tool, told of the measurement, multiplies
  const WholeAcrossFork action;
  Executor& host = host_executor(); // without the lock: it may load plug-ins
  const std::lock_guard lock(known.mutex);
  const Reentry here(&known);
  if (known.settled || (known.not_kept && lacks_threads_here(host)) || !known.tries.is_due()) return known.rates;
  const std::filesystem::path folder = user_cache_folder(), file = folder.empty() ? folder : folder / "offload.json";
  try {
    known.rates = offload_rates(device, host, scalar_of(type), file);
    known.settled = known.rates.has_value();
    known.not_kept = !known.settled;
    known.tries = {}; // they are measured as soon as there are threads
  } catch (const std::bad_alloc&) {
    if (log_dispatch()) log_line("auto: memory was too short to measure the device");
  } catch (const std::exception& why) {
    if (log_dispatch()) log_line(std::string("auto: the device could not be measured: ") + why.what());
    const auto* error = dynamic_cast<const Error*>(&why);
    known.settled = error == nullptr || error->code() != StatusCode::OutOfMemory;
  }
  return known.rates;
}

bool is_for(const GemmKernel& kernel, const ProductKind& product) {
  return kernel.type == product.type && kernel.math == product.math;
}

bool has_kernel(Executor& executor, const ProductKind& product) {
  const auto kernels = executor.gemm_kernels();
  return std::any_of(kernels.begin(), kernels.end(), [&](const GemmKernel& kernel) { return is_for(kernel, product); });
}

/// Does a kernel of the host take such a product? A kernel may exist and reject it, because the processor lacks
/// instructions. A kernel that computes the bits of a GPU's matrix units on the host does not count: it is for machines
/// without a GPU.
bool takes(Executor& host, const ProductKind& product) {
  const GemmCall call{{.type = product.type,
                       .math = product.math,
                       .m = product.shape.m,
                       .n = product.shape.n,
                       .k = product.shape.k,
                       .lda = product.shape.k,
                       .ldb = product.shape.n,
                       .ldc = product.shape.n}};
  const auto kernels = host.gemm_kernels();
  return std::any_of(kernels.begin(), kernels.end(), [&](const GemmKernel& kernel) {
    return is_for(kernel, product) && kernel.summation != Summation::HopperUnits &&
           (kernel.reject == nullptr || kernel.reject(kernel, call, host.capabilities()) == nullptr);
  });
}

/// Chooses the executor for operands in host memory: the device where it is faster with all copies, or where the host
/// has no kernel for the mode.
Executor& place_host_operands(const ProductKind& product) {
  Executor& host = host_executor();
  if (std::max({product.shape.m, product.shape.n, product.shape.k}) < never_worth_it_side &&
      product.math == Math::Strict)
    return host;
  const detail::ContractArithmetic contract;
  const double work = static_cast<double>(product.shape.m) * static_cast<double>(product.shape.n) *
                      static_cast<double>(product.shape.k);
  if (work < never_worth_it && product.math == Math::Strict) return host;
  Executor* const device = device_for_auto();
  if (device == nullptr || !has_kernel(*device, product)) return host;
  if (!takes(host, product)) return *device;
  if (work < never_worth_it) return host;
  // Only strict products were measured. Whole numbers take a processor longer than these, and a device less long.
  if (product.math == Math::Int8Units && !detail::int8::is_strict(product.shape.k)) return *device;
  const std::optional<OffloadRates> rates = rates_of(*device, product.type);
  const bool pays = rates && rates->pays(product.shape.m, product.shape.n, product.shape.k, size_of(product.type));
  if (log_dispatch())
    log_line("auto: " + std::to_string(product.shape.m) + "×" + std::to_string(product.shape.n) + "×" +
             std::to_string(product.shape.k) +
             (pays ? " is faster on the device, copies included" : " stays on the host"));
  return pays ? *device : host;
}

} // namespace

Executor& place_elementwise(std::initializer_list<const detail::Operand*> operands) {
  Executor* device = device_of(operands);
  return device ? *device : host_executor();
}

Executor& place_gemm(Backend backend, const ProductKind& product,
                     std::initializer_list<const detail::Operand*> operands) {
  if (backend != Backend::Auto) return executor(backend);
  if (Executor* named = executor_of_environment()) return *named;
  if (Executor* device = device_of(operands)) return *device;
  return place_host_operands(product);
}

} // namespace tessera
