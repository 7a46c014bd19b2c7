#pragma once

/// Scans in SPIR-V, in the order of order.hpp: the totals of the chunks, the scan of the totals, and the elements. A
/// group of 32 work-items has a chunk, and a work-item a run. Only the compilation for SPIR-V reads this file.

#include <tessera/detail/user_kernel/spirv_device.cuh>
#include <tessera/user_kernel/order.hpp>
#include <tessera/user_kernel/spirv_table.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

/// Scans the chunk of the group's work-items, whose elements get(e) gives and put(e, value) takes. The sum of what is
/// before the chunk is `before`, where `adds`. Returns the chunk's total. All work-items of the group call it, also
/// where the chunk has no elements (members ≤ 0).
template <class T, class Get, class Put>
TESSERA_DEVICE T scan_chunk(Index first, int members, Get get, Put put, bool adds, T before) {
  TESSERA_LOCAL_MEMORY T elements[spirv_scan_chunks][run_length][run_length + 1]; // rows of 33: other banks
  TESSERA_LOCAL_MEMORY T totals[spirv_scan_chunks][spirv_lanes];
  const int lane = local_id(0), slot = local_id(1);
  for (int e = lane; e < members; e += spirv_lanes) elements[slot][e / run_length][lane] = get(first + e);
  barrier();
  const int left = members - lane * run_length;
  const int length = left < run_length ? left : run_length;
  T* const run = elements[slot][lane];
  T total{};
  if (length > 0) {
    total = run[0];
    for (int k = 1; k < length; ++k) {
      total = sum_of(total, run[k]);
      run[k] = total;
    }
  }
  totals[slot][lane] = total;
  barrier();
  for (int d = 1; d < spirv_lanes; d *= 2) {
    const T earlier = lane >= d ? totals[slot][lane - d] : T{};
    barrier();
    if (lane >= d) {
      total = sum_of(earlier, total);
      totals[slot][lane] = total;
    }
    barrier();
  }
  if (lane > 0) {
    const T earlier = totals[slot][lane - 1];
    for (int k = 0; k < length; ++k) run[k] = sum_of(earlier, run[k]);
  }
  barrier();
  for (int e = lane; e < members; e += spirv_lanes) {
    const T value = elements[slot][e / run_length][lane];
    put(first + e, adds ? sum_of(before, value) : value);
  }
  return members > 0 ? elements[slot][(members - 1) / run_length][(members - 1) % run_length] : T{};
}

TESSERA_DEVICE int members_of(Index count, Index first) {
  const Index left = count - first;
  return static_cast<int>(left < 0 ? 0 : left < chunk_values ? left : chunk_values);
}

template <class S>
struct ScanType;
template <class T>
struct ScanType<Scan<T>> {
  using Type = T;
};

template <class S>
TESSERA_DEVICE void SpirvScanTotals<S>::work(const S& scan, void* scratch, Index count, Index totals_at, Index, Index,
                                             Index) {
  using T = typename ScanType<S>::Type;
  const Index chunk = global_id(1), first = chunk * chunk_values;
  const T total = scan_chunk<T>(
      first, members_of(count, first), [&](Index e) { return scan.in(e); }, [](Index, T) {}, false, T{});
  if (local_id(0) == 0 && first < count) array_at<T>(scratch, totals_at)[chunk] = total;
}

template <class S>
TESSERA_DEVICE void SpirvScanLevel<S>::work(const S&, void* scratch, Index count, Index values_at, Index totals_at,
                                            Index, Index) {
  using T = typename ScanType<S>::Type;
  T* const values = array_at<T>(scratch, values_at);
  const Index chunk = global_id(1), first = chunk * chunk_values;
  const T total = scan_chunk<T>(
      first, members_of(count, first), [=](Index e) { return values[e]; }, [=](Index e, T value) { values[e] = value; },
      false, T{});
  if (local_id(0) == 0 && first < count) array_at<T>(scratch, totals_at)[chunk] = total;
}

template <class S>
TESSERA_DEVICE void SpirvAddBefore<S>::work(const S&, void* scratch, Index count, Index values_at, Index before_at,
                                            Index, Index) {
  using T = typename ScanType<S>::Type;
  T* const values = array_at<T>(scratch, values_at);
  const Index e = global_id(0);
  if (e >= chunk_values && e < count)
    values[e] = sum_of(array_at<T>(scratch, before_at)[e / chunk_values - 1], values[e]);
}

template <class S>
TESSERA_DEVICE void SpirvScanElements<S>::work(const S& scan, void* scratch, Index count, Index before_at,
                                               Index has_before, Index, Index) {
  using T = typename ScanType<S>::Type;
  const Index chunk = global_id(1), first = chunk * chunk_values;
  const bool adds = has_before != 0 && chunk > 0 && first < count;
  const T before = adds ? array_at<T>(scratch, before_at)[chunk - 1] : T{};
  scan_chunk<T>(
      first, members_of(count, first), [&](Index e) { return scan.in(e); },
      [&](Index e, T value) { scan.out(e) = value; }, adds, before);
}

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
