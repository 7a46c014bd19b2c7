#pragma once

/// The order of docs/contract.md as plain serial code, written from its text and not from its implementation.

#include <cstdint>
#include <vector>

#include <tessera/types.hpp>

namespace tessera::test {

template <class T, class Combine>
T model_reduction(std::vector<T> v, T identity, Combine combine) {
  if (v.empty()) return identity;
  do {
    std::vector<T> next;
    for (std::size_t begin = 0; begin < v.size(); begin += 1024) {
      std::vector<T> lane(32, identity);
      for (std::size_t e = 0; e < 1024 && begin + e < v.size(); ++e) lane[e % 32] = combine(lane[e % 32], v[begin + e]);
      for (const std::size_t width : {16u, 8u, 4u, 2u, 1u})
        for (std::size_t l = 0; l < width; ++l) lane[l] = combine(lane[l], lane[l + width]);
      next.push_back(lane[0]);
    }
    v = next;
  } while (v.size() > 1);
  return v[0];
}

template <class T>
T model_add(T x, T y) {
  return x + y;
}
template <>
inline std::int64_t model_add(std::int64_t x, std::int64_t y) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) + static_cast<std::uint64_t>(y));
}

template <class T>
std::vector<T> model_scan(const std::vector<T>& x) {
  std::vector<T> p = x, total;
  for (std::size_t begin = 0; begin < x.size(); begin += 1024) {
    std::vector<T> t(32, T{0});
    std::size_t end = begin;
    for (std::size_t r = 0; r < 32; ++r)
      for (std::size_t k = 0; k < 32 && begin + 32 * r + k < x.size(); ++k) {
        end = begin + 32 * r + k;
        if (k > 0) p[end] = model_add(p[end - 1], x[end]);
        t[r] = p[end];
      }
    for (const std::size_t d : {1u, 2u, 4u, 8u, 16u}) {
      const std::vector<T> old = t;
      for (std::size_t r = d; r < 32; ++r) t[r] = model_add(old[r - d], old[r]);
    }
    for (std::size_t e = begin + 32; e <= end; ++e) p[e] = model_add(t[(e - begin) / 32 - 1], p[e]);
    total.push_back(p[end]);
  }
  if (total.size() > 1) {
    const std::vector<T> s = model_scan(total);
    for (std::size_t e = 1024; e < p.size(); ++e) p[e] = model_add(s[e / 1024 - 1], p[e]);
  }
  return p;
}

/// The sizes that conformance asks for: at and beside the chunk, primes, and levels of one, two and three.
inline std::vector<Index> sizes(bool large) {
  std::vector<Index> all{0, 1, 2, 3, 31, 32, 33, 97, 1023, 1024, 1025, 2047, 4099, 65537};
  if (large) all.insert(all.end(), {1000001, 1024 * 1024 + 1, 2 * 1024 * 1024 + 12345});
  return all;
}

} // namespace tessera::test
