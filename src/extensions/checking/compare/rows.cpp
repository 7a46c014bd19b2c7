#include <tessera/checking/compare.hpp>
#include <tessera/random.hpp>

#include "rows.hpp"

namespace tessera {

std::vector<Index> compare::random_rows(Index m, Index count, std::uint64_t seed) {
  std::vector<Index> rows;
  if (m <= 0 || count <= 0) return rows;
  count = std::min(count, m);
  for (Index s = 0; s < count; ++s) {
    const Index first = m / count * s + std::min(s, m % count);
    const Index next = m / count * (s + 1) + std::min(s + 1, m % count);
    const std::uint64_t pick = philox4x32(seed, static_cast<std::uint64_t>(s)).word[0];
    rows.push_back(first + static_cast<Index>(pick % static_cast<std::uint64_t>(next - first)));
  }
  return rows;
}

std::vector<Index> sample_rows(Index m, Index count, std::uint64_t seed) {
  std::vector<Index> rows = compare::random_rows(m, count, seed);
  if (!rows.empty()) rows.front() = 0;
  if (rows.size() > 1) rows.back() = m - 1;
  return rows;
}

} // namespace tessera
