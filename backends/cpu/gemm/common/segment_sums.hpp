#pragma once

/// Segments of k computed side by side, by different threads: each leaves its sums here, and whoever finishes the last
/// segment of a part of C adds that part's sums in their order. So there is neither a second loop nor an idle thread.

#include <atomic>
#include <memory>

#include <tessera/backend/kernel.hpp>

#include "cpu/memory/scratch.hpp"
#include "update.hpp"

namespace tessera::cpu {

template <class T>
class SegmentSums {
 public:
  /// `parts` of C are waited for separately.
  void carve(Carver& carver, const GemmOperands<T>& x, Index segments, Index parts) {
    segments_ = segments;
    ld_ = x.n;
    size_ = x.m * x.n;
    sums_ = carver.take<T>(static_cast<std::size_t>(segments * size_));
    finished_ = carver.take<std::atomic<Index>>(static_cast<std::size_t>(parts));
    if (finished_ != nullptr) std::uninitialized_value_construct_n(finished_, parts);
  }

  Index ld() const { return ld_; }
  T* at(Index segment, Index i, Index j) const { return sums_ + segment * size_ + i * ld_ + j; }

  /// A segment's sums of the part are complete, which is rows×cols from (i, j) on. C gets its result if they were the
  /// last ones.
  void finish(Index part, Index i, Index j, Index rows, Index cols, const GemmCall& call,
              const GemmOperands<T>& x) const {
    if (finished_[part].fetch_add(1, std::memory_order_acq_rel) + 1 < segments_) return;
    T* const sum = at(0, i, j);
    for (Index segment = 1; segment < segments_; ++segment)
      apply(Update<T>{false, segment + 1 == segments_, x.alpha, x.beta, &call}, rows, cols, at(segment, i, j), ld_, sum,
            ld_, x.c + i * x.ldc + j, x.ldc);
  }

 private:
  Index segments_ = 0, ld_ = 0, size_ = 0;
  T* sums_ = nullptr;
  std::atomic<Index>* finished_ = nullptr; ///< segments of each part
};

} // namespace tessera::cpu
