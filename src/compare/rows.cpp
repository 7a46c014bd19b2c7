#include <tessera/compare.hpp>
#include <tessera/random.hpp>

namespace tessera {

std::vector<Index> sample_rows(Index m, Index count, std::uint64_t seed) {
  std::vector<Index> rows;
  if (m <= 0 || count <= 0) return rows;
  count = std::min(count, m);
  // One row is taken from each of `count` strata: the first row of the first, the last row of the last.
  for (Index s = 0; s < count; ++s) {
    const Index first = m / count * s + std::min(s, m % count);
    const Index next = m / count * (s + 1) + std::min(s + 1, m % count);
    const std::uint64_t pick = philox4x32(seed, static_cast<std::uint64_t>(s)).word[0];
    Index row = first + static_cast<Index>(pick % static_cast<std::uint64_t>(next - first));
    if (s == 0) row = 0;
    if (s == count - 1 && count > 1) row = m - 1;
    rows.push_back(row);
  }
  return rows;
}

} // namespace tessera
