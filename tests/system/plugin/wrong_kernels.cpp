/// A plug-in whose products are wrong in the way that WRONG_KERNEL names. The conformance test must notice it.

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string_view>

#include <tessera/backend/plugin.hpp>

#include "support/borrowing_executor.hpp"

namespace {

using namespace tessera;

bool bug(std::string_view name) {
  static const char* const chosen = std::getenv("WRONG_KERNEL");
  return chosen != nullptr && name == chosen;
}

/// Returns row i of op(A) times column j of op(B). With the bug `loses_rest` the last product of each sum of a large
/// product is missing, as after a recursion that halves k − 1.
template <class T>
T inner(GemmOperands<T> x, Index i, Index j) {
  if (bug("loses_rest") && strassen_levels(x.m, x.n, x.k) > 0) --x.k;
  T sum{0};
  for (Index first = 0; first < x.k; first += canonical_segment) {
    const Index last = std::min(first + canonical_segment, x.k);
    T chain{0};
    for (Index p = first; p < last; ++p) {
      const Index step = bug("order") ? first + last - 1 - p : p;
      T a = x.at_a(i, step);
      if (bug("flushes_subnormals") && std::abs(a) < std::numeric_limits<T>::min()) a = T{0};
      chain = std::fma(a, x.at_b(step, j), chain);
    }
    sum = first == 0 ? chain : sum + chain;
  }
  if (bug("loses_nan") && std::isnan(sum)) return T{0};
  return sum;
}

template <class T>
Status run(const GemmKernel& row, Executor&, Queue&, const GemmCall& call) noexcept {
  const GemmOperands<T> x(call);
  for (Index i = 0; i < x.m; ++i)
    for (Index j = 0; j < x.n; ++j) {
      T& c = x.c[i * x.ldc + j];
      T r = x.alpha * inner(x, i, j);
      if (bug("inexact_row") && row.summation == Summation::Other)
        r += r * std::numeric_limits<T>::epsilon() * T(x.k + 9);
      if (bug("edge") && i == x.m - 1 && x.m % 4 == 3) r = T{0};
      c = x.beta == T{0} && !bug("reads_c") ? r : std::fma(x.beta, c, r);
    }
  if (bug("writes_beside") && x.ldc > x.n && x.m > 1) x.c[x.n] = T{0};
  if (bug("writes_input")) const_cast<T*>(x.a)[0] += T{1};
  return {};
}

const char* reject(const GemmKernel&, const GemmCall& call, const Capabilities&) noexcept {
  return bug("rejects_shapes") && call.n % 2 == 1 ? "odd n" : nullptr;
}

template <class T>
constexpr GemmKernel row(const char* name, Summation summation, Math math = Math::Strict) {
  constexpr int recursive = 2 * least_strassen_size;
  return {.name = name,
          .summary = "wrong on purpose",
          .source = "tests",
          .type = dtype_of<T>,
          .math = math,
          .tile = math == Math::Strassen ? Tile{recursive, recursive, recursive} : Tile{},
          .summation = summation,
          .reject = reject,
          .run = run<T>};
}

constexpr std::array rows{row<float>("wrong", Summation::Canonical), row<double>("wrong", Summation::Canonical),
                          row<float>("wrong_too", Summation::Other), row<double>("wrong_too", Summation::Other)};

constexpr std::array strassen_rows{row<float>("wrong_strassen", Summation::Other, Math::Strassen),
                                   row<double>("wrong_strassen", Summation::Other, Math::Strassen)};

std::span<const GemmKernel> products() {
  if (bug("loses_rest")) return strassen_rows;
  return rows;
}

/// Adds squares of whole numbers in 64 bits that wrap, or in double.
Status reduce_wrongly(const ReduceKernel&, Executor&, Queue&, const ReduceCall& call, ReduceResult& result) noexcept {
  std::uint64_t wrapping = 0;
  double rounding = 0;
  for (Index i = 0; i < call.rows; ++i)
    for (Index j = 0; j < call.cols; ++j) {
      const std::int64_t x = static_cast<const std::int32_t*>(call.x)[i * call.ldx + j];
      wrapping += static_cast<std::uint64_t>(x * x);
      rounding += static_cast<double>(x * x);
    }
  result.whole = static_cast<std::int64_t>(wrapping);
  if (bug("sums_in_double") && rounding < 0x1p63) result.whole = static_cast<std::int64_t>(rounding);
  result.value = static_cast<double>(result.whole);
  return {};
}

constexpr std::array wrong_reductions{ReduceKernel{.name = "wrong_sum",
                                                   .summary = "wrong on purpose",
                                                   .source = "tests",
                                                   .type = DType::I32,
                                                   .summation = Summation::Canonical,
                                                   .run = reduce_wrongly}};

std::span<const ReduceKernel> reductions() {
  if (bug("wraps") || bug("sums_in_double")) return wrong_reductions;
  return reduce_kernels(Backend::Reference);
}

class WrongExecutor final : public test::BorrowingExecutor {
 public:
  WrongExecutor() : BorrowingExecutor(Backend::Tbb) {}
  std::span<const GemmKernel> gemm_kernels() const noexcept override { return products(); }
  std::span<const ReduceKernel> reduce_kernels() const noexcept override { return reductions(); }
};

const PluginInfo info{
    .struct_size = sizeof(PluginInfo),
    .abi_version = plugin_abi_version,
    .build_tag = TESSERA_BUILD_TAG,
    .name = PLUGIN_NAME,
    .description = "wrong kernels, for tests",
    .probe = [] { return Status{}; },
    .create =
        [](const ExecutorOptions&, Executor*& executor) {
          executor = new WrongExecutor;
          return Status{};
        },
    .destroy = [](Executor* executor) { delete executor; },
    .gemm_kernels = products,
    .reduce_kernels = reductions,
};

} // namespace

extern "C" __attribute__((visibility("default"))) const tessera::PluginInfo* tessera_plugin() noexcept { return &info; }
