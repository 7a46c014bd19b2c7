#pragma once

/// Reductions in SPIR-V, in the order of order.hpp: 32 work-items have a chunk, and a work-item is a lane of the
/// contract. The lanes are folded in local memory. Each level of results is a launch of its own. Only the compilation
/// for SPIR-V reads this file.

#include <cstdint>

#include <tessera/detail/user_kernel/spirv_device.cuh>
#include <tessera/user_kernel/order.hpp>
#include <tessera/user_kernel/spirv_table.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

static_assert(spirv_lanes == chunk_lanes, "32 work-items fold a chunk");

/// The bytes of a value as local memory holds them, because a value may have a constructor.
template <class Value>
struct ValueWords {
  std::uint32_t word[sizeof(Value) / sizeof(std::uint32_t)];
};

/// The rule by which the operation `op` combines what R gives.
template <class T, int op>
TESSERA_DEVICE auto plain_rule() {
  if constexpr (op == static_cast<int>(KernelOp::Sum))
    return SumRule<T>{};
  else
    return ExtremumRule<T, op == static_cast<int>(KernelOp::Max)>{};
}
template <class T, int op>
TESSERA_DEVICE auto rule_of(const SpirvPlain<T, op>&) {
  return plain_rule<T, op>();
}
template <class F, class Combine>
TESSERA_DEVICE auto rule_of(const Reduction<F, Combine>& reduction) {
  return CombineRule<Combine>{reduction.combine};
}

/// Folds the lanes of each chunk of the group. Lane 0 gets the result. All work-items of the group call it.
template <class Rule>
TESSERA_DEVICE typename Rule::Value fold_lanes(const Rule& rule, typename Rule::Value value) {
  using Value = typename Rule::Value;
  using Words = ValueWords<Value>;
  TESSERA_LOCAL_MEMORY Words lanes[spirv_reduction_chunks][spirv_lanes];
  const int lane = local_id(0);
  Words* const row = lanes[local_id(1)];
  row[lane] = __builtin_bit_cast(Words, value);
  barrier();
  for (int width = spirv_lanes / 2; width > 0; width /= 2) {
    if (lane < width) {
      value = rule.join(value, __builtin_bit_cast(Value, row[lane + width]));
      row[lane] = __builtin_bit_cast(Words, value);
    }
    barrier();
  }
  return value;
}

template <int dimensions, class F, class Rule>
TESSERA_DEVICE void reduce_chunk(const F& f, const Rule& rule, void* scratch, Index count, Index cols, Index row_step,
                                 Index col_step, Index results_at) {
  using Value = typename Rule::Value;
  const Index chunk = global_id(1), first = chunk * chunk_values;
  const Index end = count - first < chunk_values ? count : first + chunk_values;
  Index place = first + local_id(0), i = 0, j = 0;
  if constexpr (dimensions == 2) {
    i = place / cols;
    j = place - i * cols;
  }
  Value value = rule.identity();
  for (; place < end; place += spirv_lanes) {
    if constexpr (dimensions == 1) {
      value = rule.join(value, rule.first(f(place), place));
    } else {
      value = rule.join(value, rule.first(f(i, j), place));
      i += row_step;
      j += col_step;
      if (j >= cols) {
        j -= cols;
        ++i;
      }
    }
  }
  value = fold_lanes(rule, value);
  if (local_id(0) == 0 && first < count) array_at<Value>(scratch, results_at)[chunk] = value;
}

template <int dimensions, int op, class F>
TESSERA_DEVICE void reduce_functor(const F& f, void* scratch, Index count, Index cols, Index row_step, Index col_step,
                                   Index results_at) {
  reduce_chunk<dimensions>(f, plain_rule<ReturnOf<F, dimensions>, op>(), scratch, count, cols, row_step, col_step,
                           results_at);
}
template <int dimensions, int, class F, class Combine>
TESSERA_DEVICE void reduce_functor(const Reduction<F, Combine>& reduction, void* scratch, Index count, Index cols,
                                   Index row_step, Index col_step, Index results_at) {
  reduce_chunk<dimensions>(reduction.f, rule_of(reduction), scratch, count, cols, row_step, col_step, results_at);
}

template <class F, int dimensions, int op>
TESSERA_DEVICE void SpirvReduce<F, dimensions, op>::work(const F& functor, void* scratch, Index count, Index cols,
                                                         Index row_step, Index col_step, Index results_at) {
  reduce_functor<dimensions, op>(functor, scratch, count, cols, row_step, col_step, results_at);
}

template <class R>
TESSERA_DEVICE void SpirvFold<R>::work(const R& functor, void* scratch, Index count, Index values_at, Index results_at,
                                       Index, Index) {
  const auto rule = rule_of(functor);
  using Value = typename decltype(rule_of(functor))::Value;
  const Value* const values = array_at<Value>(scratch, values_at);
  const Index chunk = global_id(1), first = chunk * chunk_values;
  const Index end = count - first < chunk_values ? count : first + chunk_values;
  Value value = rule.identity();
  for (Index e = first + local_id(0); e < end; e += spirv_lanes) value = rule.join(value, values[e]);
  value = fold_lanes(rule, value);
  if (local_id(0) == 0 && first < count) array_at<Value>(scratch, results_at)[chunk] = value;
}

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
