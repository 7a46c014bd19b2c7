#pragma once

/// A matrix in the executor's memory, between guard bands and with a padded leading dimension. Everything that is not
/// an element is a NaN with a rare payload: a kernel that reads it spoils its result, and a kernel that writes it is
/// found out.

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include <tessera/executor.hpp>
#include <tessera/half.hpp>

namespace tessera::conformance {

template <class T>
using Bits =
    std::conditional_t<sizeof(T) == 2, std::uint16_t, std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;

template <class T>
Bits<T> bits(T value) {
  return std::bit_cast<Bits<T>>(value);
}

/// Returns a quiet NaN that arithmetic does not make.
template <class T>
T sentinel() {
  return std::bit_cast<T>(static_cast<Bits<T>>(bits(std::numeric_limits<T>::quiet_NaN()) | 0x2a5));
}

/// Says whether x and y have equal bits or are both NaN: IEEE leaves open which NaN an operation gives.
template <class T>
bool same(T x, T y) {
  return bits(x) == bits(y) || (std::isnan(x) && std::isnan(y));
}

/// The place of a matrix in its allocation.
struct Placement {
  Index padding = 0;       ///< ld − columns
  Index guard = 0;         ///< elements before and after; with 0 a sanitizer checks the limits
  bool misaligned = false; ///< the matrix begins one element off the allocation's alignment
};

template <class T>
class Guarded {
 public:
  Guarded(Executor& executor, Index rows, Index cols, const Placement& placement)
      : executor_(executor),
        rows_(rows),
        cols_(cols),
        ld_(std::max<Index>(cols + placement.padding, 1)),
        first_(placement.guard + (placement.misaligned ? 1 : 0)) {
    const Index spanned = rows > 0 && cols > 0 ? (rows - 1) * ld_ + cols : 0;
    image_.assign(static_cast<std::size_t>(first_ + spanned + placement.guard), sentinel<T>());
    throw_if_failed(executor.allocate(std::max<std::size_t>(bytes(), 1), memory_));
  }
  ~Guarded() { executor_.free(memory_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index ld() const { return ld_; }
  T* data() const { return static_cast<T*>(memory_) + first_; }

  /// Returns element (i, j) of the host's image, which upload() sends and download() fetches.
  T& at(Index i, Index j) { return image_[static_cast<std::size_t>(first_ + i * ld_ + j)]; }
  const T* host() const { return image_.data() + first_; }

  void upload() { copy(true, image_); }
  void download() { copy(false, image_); }

  /// Says whether the executor's elements, gaps and guards still are what was uploaded.
  bool unchanged() {
    std::vector<T> now(image_.size());
    copy(false, now);
    return image_.empty() || std::memcmp(now.data(), image_.data(), bytes()) == 0;
  }
  /// Says, after download(), whether everything that is not an element is still the sentinel.
  bool surroundings_intact() const {
    const Bits<T> expected = bits(sentinel<T>());
    Index e = 0;
    const auto intact_to = [&](Index end) {
      for (; e < end; ++e)
        if (bits(image_[static_cast<std::size_t>(e)]) != expected) return false;
      return true;
    };
    for (Index i = 0; i < (cols_ > 0 ? rows_ : 0); ++i) {
      if (!intact_to(first_ + i * ld_)) return false;
      e = first_ + i * ld_ + cols_; // after the row's elements
    }
    return intact_to(static_cast<Index>(image_.size()));
  }

 private:
  std::size_t bytes() const { return image_.size() * sizeof(T); }
  void copy(bool in, std::vector<T>& image) {
    if (image.empty()) return;
    Queue& queue = executor_.default_queue();
    throw_if_failed(in ? executor_.copy_in(queue, memory_, bytes(), image.data(), bytes(), bytes(), 1)
                       : executor_.copy_out(queue, image.data(), bytes(), memory_, bytes(), bytes(), 1));
  }

  Executor& executor_;
  Index rows_, cols_, ld_, first_;
  std::vector<T> image_;
  void* memory_ = nullptr;
};

} // namespace tessera::conformance
