#pragma once

/// Holds the sums of segments of k that different threads compute at the same time. The thread that completes the last
/// segment of a region of C adds that region's sums in ascending order. So no second loop is needed, and no thread
/// waits.

#include <atomic>
#include <memory>

#include <tessera/backend/kernel.hpp>

#include "cpu/memory/scratch.hpp"
#include "update.hpp"

namespace tessera::cpu {

template <class T>
class SegmentSums {
 public:
  /// Takes memory for the sums of `segments` segments of C, and for a counter for each of `regions` regions of C. The
  /// caller numbers the regions.
  void carve(Carver& carver, const GemmOperands<T>& x, Index segments, Index regions) {
    segments_ = segments;
    ld_ = x.n;
    size_ = x.m * x.n;
    sums_ = carver.take<T>(static_cast<std::size_t>(segments * size_));
    done_ = carver.take<std::atomic<Index>>(static_cast<std::size_t>(regions));
    if (done_ != nullptr) std::uninitialized_value_construct_n(done_, regions);
  }

  Index ld() const { return ld_; }
  T* at(Index segment, Index i, Index j) const { return sums_ + segment * size_ + i * ld_ + j; }

  /// The caller has stored the sums of one segment of this region, the rows×cols elements from (i, j) on. If they were
  /// the last segment's, adds all segments and stores the result in C.
  void add_if_last(Index region, Index i, Index j, Index rows, Index cols, const GemmCall& call,
                   const GemmOperands<T>& x) const {
    if (done_[region].fetch_add(1, std::memory_order_acq_rel) + 1 < segments_) return;
    T* const sum = at(0, i, j);
    for (Index segment = 1; segment < segments_; ++segment)
      apply(Update<T>{false, segment + 1 == segments_, x.alpha, x.beta, &call}, rows, cols, at(segment, i, j), ld_, sum,
            ld_, x.c + i * x.ldc + j, x.ldc);
  }

 private:
  Index segments_ = 0, ld_ = 0, size_ = 0;
  T* sums_ = nullptr;
  std::atomic<Index>* done_ = nullptr; ///< segments of each region that are done
};

} // namespace tessera::cpu
