#pragma once

/// The loops that run a functor on the processor. An executor calls them with ranges of indices; see
/// Executor::run_range(). Programs use run.hpp.
///
/// A loop is compiled several times, and the fastest copy that fits is taken at run time: for views whose neighbours
/// lie side by side, which the compiler turns into vector code, and for others; and, on x86-64 in programs that
/// tessera_add_kernels() builds, for AVX2 with FMA. All copies give the same bits, because nothing is contracted.

#include <atomic>
#include <cstddef>
#include <exception>
#include <type_traits>

#include <tessera/executor.hpp>
#include <tessera/user_kernel/functor.hpp>
#include <tessera/user_kernel/order.hpp>

#include <tessera/detail/macros_off.hpp>

// tessera_add_kernels() says by TESSERA_USER_KERNELS that the compiler does not contract: with FMA it would.
#if defined(__x86_64__) && defined(TESSERA_USER_KERNELS) && !defined(__AVX2__)
#define TESSERA_HAS_WIDE_LOOPS 1
#define TESSERA_WIDE_LOOP __attribute__((target("avx2,fma")))
#else
#define TESSERA_HAS_WIDE_LOOPS 0
#endif

/// Says of the loop below that its indices are independent, so that no check for overlap is made at run time. Clang has
/// no such word that is silent where it cannot vectorise.
#if defined(__GNUC__) && !defined(__clang__)
#define TESSERA_INDEPENDENT_INDICES _Pragma("GCC ivdep")
#else
#define TESSERA_INDEPENDENT_INDICES
#endif

namespace tessera::detail {

/// Keeps the first exception of a loop, for the caller of the loop.
class CaughtException {
 public:
  void keep() noexcept {
    if (!caught_.exchange(true)) first_ = std::current_exception();
  }
  /// Has an index thrown? The ranges that have not begun are then left out.
  bool any() const noexcept { return caught_.load(std::memory_order_relaxed); }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::atomic<bool> caught_ = false;
  std::exception_ptr first_;
};

/// What a loop needs besides its range.
template <class F, class Value>
struct LoopContext {
  const F* f;
  Index cols;  ///< columns of the index space
  Index count; ///< all indices
  Value* values;
  CaughtException* caught;
};

/// Tells the compiler that no view of the functor takes strides for these accesses.
template <std::uint64_t bits, class F>
TESSERA_FN void assume_unit_strides(const F& f) {
  if constexpr (alignof(F) >= alignof(ViewRecord) && bits != 0)
    for (std::size_t offset = 0; offset < sizeof(F); offset += sizeof(std::uint64_t)) {
      std::uint64_t word;
      __builtin_memcpy(&word, reinterpret_cast<const char*>(&f) + offset, sizeof word);
      if ((bits & strided_vector) != 0 && is_tag_with(word, strided_vector)) __builtin_unreachable();
      if ((bits & strided_rows) != 0 && is_tag_with(word, strided_rows)) __builtin_unreachable();
    }
}

/// for_each: calls the functor for the indices [begin, end).
struct ForEachLoop {
  template <std::uint64_t unit, int dimensions, class F, class Value>
  TESSERA_FN static void run(const LoopContext<F, Value>& loop, Index begin, Index end) {
    const F f = *loop.f;
    assume_unit_strides<unit>(f);
    if constexpr (dimensions == 1) {
      TESSERA_INDEPENDENT_INDICES
      for (Index i = begin; i < end; ++i) f(i);
    } else {
      Index i = begin / loop.cols, j = begin % loop.cols;
      for (Index left = end - begin; left > 0; ++i, j = 0) {
        const Index stop = loop.cols - j < left ? loop.cols : j + left;
        left -= stop - j;
        TESSERA_INDEPENDENT_INDICES
        for (Index col = j; col < stop; ++col) f(i, col);
      }
    }
  }
};

/// Writes the values of the functor for `count` indices from number `first` on.
template <int dimensions, class F, class T>
TESSERA_FN void evaluate(const F& f, Index cols, Index first, Index count, T* values) {
  if constexpr (dimensions == 1) {
    TESSERA_INDEPENDENT_INDICES
    for (Index e = 0; e < count; ++e) values[e] = f(first + e);
  } else {
    Index i = first / cols, j = first % cols;
    for (Index at = 0; at < count; ++i, j = 0) {
      const Index piece = cols - j < count - at ? cols - j : count - at;
      TESSERA_INDEPENDENT_INDICES
      for (Index e = 0; e < piece; ++e) values[at + e] = f(i, j + e);
      at += piece;
    }
  }
}

/// Finds the extremum of a chunk's values. It is the same one in every order, so this order is one for vectors: the
/// value first, then its place.
template <class T, bool largest>
TESSERA_FN PlacedValue<T> extremum_of(const T* values, Index count, Index first) {
  using Rule = ExtremumRule<T, largest>;
  T lane[chunk_lanes];
  bool nan[chunk_lanes] = {};
  for (int l = 0; l < chunk_lanes; ++l) lane[l] = values[0];
  const Index whole = count / chunk_lanes * chunk_lanes;
  for (Index e = 0; e < whole; e += chunk_lanes)
    for (int l = 0; l < chunk_lanes; ++l) {
      const T value = values[e + l];
      lane[l] = Rule::precedes(value, lane[l]) ? value : lane[l];
      nan[l] |= is_nan(value);
    }
  T best = lane[0];
  bool any_nan = false;
  for (int l = 0; l < chunk_lanes; ++l) {
    if (Rule::precedes(lane[l], best)) best = lane[l];
    any_nan |= nan[l];
  }
  for (Index e = whole; e < count; ++e) {
    if (Rule::precedes(values[e], best)) best = values[e];
    any_nan |= is_nan(values[e]);
  }
  Index place = 0;
  if (any_nan)
    while (!is_nan(values[place])) ++place;
  else
    while (!(values[place] == best)) ++place;
  return {values[place], first + place};
}

/// A reduction: combines the values of the chunks [begin, end) of the index space.
template <class Rule>
struct ReduceLoop {
  template <std::uint64_t unit, int dimensions, class F>
  TESSERA_FN static void run(const LoopContext<F, typename Rule::Value>& loop, Index begin, Index end) {
    const F f = *loop.f;
    assume_unit_strides<unit>(f);
    for (Index chunk = begin; chunk < end; ++chunk) {
      const Index first = chunk * chunk_values;
      const Index count = loop.count - first < chunk_values ? loop.count - first : chunk_values;
      loop.values[chunk] = of_chunk<dimensions>(f, loop.cols, first, count);
    }
  }

 private:
  template <int dimensions, class F>
  TESSERA_FN static typename Rule::Value of_chunk(const F& f, Index cols, Index first, Index count) {
    if constexpr (is_reduction<F>) {
      typename Rule::Value values[chunk_values];
      evaluate<dimensions>(f.f, cols, first, count, values);
      return fold_values(Rule{f.combine}, values, count);
    } else {
      ReturnOf<F, dimensions> values[chunk_values];
      evaluate<dimensions>(f, cols, first, count, values);
      if constexpr (std::is_same_v<Rule, ExtremumRule<ReturnOf<F, dimensions>, true>>)
        return extremum_of<ReturnOf<F, dimensions>, true>(values, count, first);
      else if constexpr (std::is_same_v<Rule, ExtremumRule<ReturnOf<F, dimensions>, false>>)
        return extremum_of<ReturnOf<F, dimensions>, false>(values, count, first);
      else
        return fold_values(Rule{}, values, count);
    }
  }
};

/// The first pass of a scan: scans the chunks [begin, end) by themselves and keeps their totals.
struct ScanLoop {
  template <std::uint64_t unit, int, class T>
  TESSERA_FN static void run(const LoopContext<Scan<T>, T>& loop, Index begin, Index end) {
    const Scan<T> scan = *loop.f;
    assume_unit_strides<unit>(scan);
    for (Index chunk = begin; chunk < end; ++chunk) {
      const Index first = chunk * chunk_values;
      const Index count = loop.count - first < chunk_values ? loop.count - first : chunk_values;
      T values[chunk_values];
      for (Index e = 0; e < count; ++e) values[e] = scan.in(first + e);
      scan_values(values, count);
      for (Index e = 0; e < count; ++e) scan.out(first + e) = values[e];
      loop.values[chunk] = values[count - 1];
    }
  }
};

/// The second pass of a scan: adds to the chunks [begin, end) what is before them. The functor's `in` is its `out`.
struct AddBeforeLoop {
  template <std::uint64_t unit, int, class T>
  TESSERA_FN static void run(const LoopContext<Scan<T>, T>& loop, Index begin, Index end) {
    const Scan<T> scan = *loop.f;
    assume_unit_strides<unit>(scan);
    for (Index chunk = begin > 0 ? begin : 1; chunk < end; ++chunk) {
      const Index first = chunk * chunk_values;
      const Index last = loop.count - first < chunk_values ? loop.count : first + chunk_values;
      const T before = loop.values[chunk - 1];
      TESSERA_INDEPENDENT_INDICES
      for (Index e = first; e < last; ++e) scan.out(e) = sum_of(before, scan.in(e));
    }
  }
};

/// Runs a range of a loop and keeps an exception.
template <class Loop, std::uint64_t unit, int dimensions, class F, class Value>
TESSERA_FN void run_and_keep(const void* context, Index begin, Index end) noexcept {
  const auto& loop = *static_cast<const LoopContext<F, Value>*>(context);
  if (loop.caught->any()) return;
  try {
    Loop::template run<unit, dimensions>(loop, begin, end);
  } catch (...) {
    loop.caught->keep();
  }
}

/// What an executor calls.
template <class Loop, std::uint64_t unit, int dimensions, class F, class Value>
void plain_body(const void* context, Index begin, Index end) noexcept {
  run_and_keep<Loop, unit, dimensions, F, Value>(context, begin, end);
}
#if TESSERA_HAS_WIDE_LOOPS
template <class Loop, std::uint64_t unit, int dimensions, class F, class Value>
TESSERA_WIDE_LOOP void wide_body(const void* context, Index begin, Index end) noexcept {
  run_and_keep<Loop, unit, dimensions, F, Value>(context, begin, end);
}
#endif

template <class Loop, std::uint64_t unit, int dimensions, class F, class Value>
RangeBody body_for_processor() noexcept {
#if TESSERA_HAS_WIDE_LOOPS
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return &wide_body<Loop, unit, dimensions, F, Value>;
#endif
  return &plain_body<Loop, unit, dimensions, F, Value>;
}

/// Returns the loop for a functor whose views have these bits in their tags.
template <class Loop, int dimensions, class F, class Value>
RangeBody choose_body(std::uint64_t strides) noexcept {
  if (strides == 0) return body_for_processor<Loop, strided_vector | strided_rows, dimensions, F, Value>();
  constexpr std::uint64_t other = dimensions == 1 ? strided_vector : strided_rows;
  if ((strides & other) == 0) return body_for_processor<Loop, other, dimensions, F, Value>();
  return body_for_processor<Loop, 0, dimensions, F, Value>();
}

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
