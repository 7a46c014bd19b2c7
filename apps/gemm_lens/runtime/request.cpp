#include "request.hpp"

#include <algorithm>

namespace tessera::lens {
namespace {

/// Do all lanes that take part have the address of lane n ^ distance, where that one takes part too?
bool agree_in_pairs(const Request& request, unsigned distance) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned other = lane ^ distance;
    if (other > lane && (request.lanes >> lane & 1) != 0 && (request.lanes >> other & 1) != 0 &&
        request.address[lane] != request.address[other])
      return false;
  }
  return true;
}

/// Serves the lanes from `first` on, and returns the wavefronts: the different words of the busiest bank.
int serve(const Request& request, std::uint64_t base, unsigned first, unsigned lanes, Banks& words) {
  std::array<std::uint64_t, 32 * 5> seen; // words, in the order of lanes; at most five each
  int seen_count = 0;
  std::array<std::uint32_t, 32> of_bank{};
  for (unsigned lane = first; lane < first + lanes; ++lane) {
    if ((request.lanes >> lane & 1) == 0) continue;
    const std::uint64_t from = (request.address[lane] - base) / 4;
    const std::uint64_t to = (request.address[lane] - base + request.size - 1) / 4;
    for (std::uint64_t word = from; word <= to; ++word) {
      const auto end = seen.begin() + seen_count;
      if ((seen_count > 0 && word == end[-1]) || std::find(seen.begin(), end, word) != end) continue;
      seen[static_cast<std::size_t>(seen_count++)] = word;
      ++of_bank[word % 32];
    }
  }
  std::uint32_t most = 0;
  for (std::size_t bank = 0; bank < 32; ++bank) {
    words[bank] += of_bank[bank];
    most = std::max(most, of_bank[bank]);
  }
  return static_cast<int>(most);
}

} // namespace

Sectors sectors_of(const Request& request) {
  Sectors sectors;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((request.lanes >> lane & 1) == 0) continue;
    const std::uint64_t last = (request.address[lane] + request.size - 1) / 32;
    for (std::uint64_t sector = request.address[lane] / 32; sector <= last; ++sector) {
      const auto end = sectors.number.begin() + sectors.count;
      const bool known =
          (sectors.count > 0 && sector == end[-1]) || std::find(sectors.number.begin(), end, sector) != end;
      if (!known && sectors.count < 64) sectors.number[static_cast<std::size_t>(sectors.count++)] = sector;
    }
  }
  return sectors;
}

int wavefronts_of(const Request& request, std::uint64_t base, Banks& words) {
  unsigned parts = request.size <= 4 ? 1 : request.size <= 8 ? 2 : 4;
  if (parts > 1 && (agree_in_pairs(request, 1) || agree_in_pairs(request, 2))) parts /= 2;
  int wavefronts = 0;
  for (unsigned part = 0; part < parts; ++part)
    wavefronts += serve(request, base, part * (32 / parts), 32 / parts, words);
  return wavefronts;
}

} // namespace tessera::lens
