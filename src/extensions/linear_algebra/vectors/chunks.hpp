#pragma once

/// The results of chunks become one, level by level, in the order of tessera/user_kernel/order.hpp.

#include <tessera/user_kernel/order.hpp>

#include "strided.hpp"

namespace tessera::vectors {

inline constexpr Index chunk = detail::chunk_values;
inline constexpr int lanes = detail::chunk_lanes;

/// How the results of chunks are added.
template <class N>
struct Addition {
  using Value = N;
  N identity() const { return N{}; }
  N join(const N& x, const N& y) const {
    if constexpr (has_two_parts<N>)
      return {x.re + y.re, x.im + y.im};
    else
      return x + y;
  }
};

/// Receives the results of chunks in ascending order, and folds each 1024 of a level as soon as it has them.
template <class N>
class Levels {
 public:
  void push(const N& value, int level = 0) {
    values_[level][count_[level]++] = value;
    ++total_[level];
    if (count_[level] == chunk) close(level);
  }
  N result() {
    for (int level = 0;; ++level) {
      if (total_[level] == 1) return values_[level][0];
      if (count_[level] > 0) close(level);
    }
  }

 private:
  static constexpr int levels = 6; // of 1024 values each: more than there can be

  void close(int level) {
    const N folded = detail::fold_values(Addition<N>{}, values_[level], count_[level]);
    count_[level] = 0;
    push(folded, level + 1);
  }

  N values_[levels][chunk];
  Index count_[levels] = {}, total_[levels] = {};
};

/// The sum over more elements than 1024 chunks have. A function of its own, because Levels need a large stack.
template <class N, class Work>
[[gnu::noinline]] N sum_of_many_chunks(Index n, const Work& work) {
  constexpr Index most = chunk * chunk;
  Levels<N> levels;
  N results[chunk];
  for (Index first = 0; first < n; first += most) {
    const Index count = std::min(most, n - first);
    work(first, count, results);
    for (Index c = 0; c < detail::chunks_of(count); ++c) levels.push(results[c]);
  }
  return levels.result();
}
template <class N, class Work>
[[gnu::noinline]] N sum_of_some_chunks(Index n, const Work& work) {
  N results[chunk];
  work(Index{0}, n, results);
  return detail::fold_values(Addition<N>{}, results, detail::chunks_of(n));
}

/// Returns the sum over n > 0 elements. work(first, count, results) writes the results of the chunks of `count`
/// elements from `first` on, at most 1024 chunks.
template <class N, class Work>
N sum_of_chunks(Index n, const Work& work) {
  if (n > chunk * chunk) return sum_of_many_chunks<N>(n, work);
  if (n > chunk) return sum_of_some_chunks<N>(n, work);
  N result;
  work(Index{0}, n, &result);
  return result;
}

} // namespace tessera::vectors
