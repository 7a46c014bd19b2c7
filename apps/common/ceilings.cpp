#include "ceilings.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include <tessera/detail/printable.hpp>
#include <tessera/status.hpp>

#include "ceiling_file.hpp"
#include "notes.hpp"

namespace tessera::apps {

using nlohmann::ordered_json;

double CeilingEntry::bandwidth_of(double bytes) const {
  for (const CacheLevel& cache : caches)
    if (static_cast<double>(cache.bytes) >= bytes) return cache.bytes_per_second;
  return bytes_per_second;
}

void CeilingEntry::raise(const CeilingEntry& other) {
  raise_bandwidths(other);
  flops = std::max(flops, other.flops);
  for (const auto& [name, peak] : other.peaks) peaks[name] = std::max(peaks[name], peak);
}

void CeilingEntry::raise_bandwidths(const CeilingEntry& other) {
  bytes_per_second = std::max(bytes_per_second, other.bytes_per_second);
  for (const CacheLevel& theirs : other.caches) {
    const auto ours = std::find_if(caches.begin(), caches.end(),
                                   [&](const CacheLevel& cache) { return cache.level == theirs.level; });
    if (ours == caches.end())
      caches.push_back(theirs);
    else
      ours->bytes_per_second = std::max(ours->bytes_per_second, theirs.bytes_per_second);
  }
}

ordered_json to_json(const CeilingEntry& entry) {
  ordered_json caches = ordered_json::array();
  for (const CacheLevel& cache : entry.caches)
    caches.push_back({{"level", cache.level}, {"bytes", cache.bytes}, {"bytes_per_second", cache.bytes_per_second}});
  ordered_json peaks = ordered_json::object();
  for (const auto& [name, flops] : entry.peaks) peaks[name] = flops;
  return {{"device", entry.device},
          {"dtype", to_string(entry.type)},
          {"math", to_string(entry.math)},
          {"threads", entry.threads},
          {"flops", entry.flops},
          {"bytes_per_second", entry.bytes_per_second},
          {"caches", caches},
          {"peaks", peaks}};
}

namespace {

CeilingEntry place_of(Backend backend, DType type, Math math, int threads) {
  CeilingEntry place;
  place.device = executor(backend).capabilities().host_memory ? std::string("cpu") : std::string(to_string(backend));
  place.type = type;
  // On the processor, compensated, Strassen's and strict kernels run on the same vector units, and a ceiling counts
  // only the operations of the conventional product. Units for bytes may exceed that ceiling.
  const bool on_vector_units = math == Math::Compensated || math == Math::Strassen || math == Math::Int8Units;
  place.math = place.device == "cpu" && on_vector_units ? Math::Strict : math;
  place.threads = threads;
  return place;
}

} // namespace

CeilingTable::CeilingTable(std::vector<Backend> backends, bool measure, std::string program)
    : backends_(std::move(backends)), measure_(measure), program_(std::move(program)) {}

CeilingTable::Known* CeilingTable::known(const CeilingEntry& place) {
  const auto at =
      std::find_if(known_.begin(), known_.end(), [&](const Known& one) { return one.entry.same_place(place); });
  return at == known_.end() ? nullptr : &*at;
}

CeilingEntry CeilingTable::measure(Backend backend, const CeilingEntry& place) const {
  CeilingEntry entry = place;
  std::vector<Backend> measuring{backend};
  if (place.device == "cpu") { // the host backends share the processor: the best of them counts
    for (const Backend other : backends_)
      if (other != backend && executor(other).capabilities().host_memory) measuring.push_back(other);
  }
  // Two measurements at least, because a disturbance may hit one and spare the other.
  for (std::size_t round = 0; round * measuring.size() < 2; ++round)
    for (const Backend one : measuring) {
      Ceilings once;
      if (!executor(one).measure_ceilings(place.type, place.math, place.threads, once).ok()) continue;
      CeilingEntry measured = place;
      measured.flops = once.flops;
      measured.bytes_per_second = once.bytes_per_second;
      for (const CacheCeiling& cache : once.caches)
        if (cache.level > 0) measured.caches.push_back({cache.level, cache.bytes, cache.bytes_per_second});
      for (const PeakCeiling& peak : once.peaks)
        if (peak.instruction_set != nullptr) measured.peaks[peak.instruction_set] = peak.flops;
      entry.raise(measured);
    }
  return entry;
}

void CeilingTable::complain(const std::string& line) {
  if (!std::exchange(complained_, true)) apps::note("{}: {}\n", program_, detail::printable(line));
}

CeilingEntry CeilingTable::keep(Backend backend, const CeilingEntry& entry) {
  const std::lock_guard lock(mutex_);
  Known* old = known(entry);
  if (old == nullptr) old = &known_.emplace_back(Known{entry, true});
  old->entry.raise(entry);
  old->fresh = true;
  if (entry.flops > 0)
    for (Known& one : known_)
      if (one.entry.device == entry.device && one.entry.threads == entry.threads && one.entry.flops > 0) {
        old->entry.raise_bandwidths(one.entry);
        one.entry.raise_bandwidths(old->entry);
      }
  // A file that cannot be written only means that the next run measures again.
  if (const auto file = ceiling_file(); !file.empty() && entry.flops > 0)
    if (const std::string why = store_ceilings(file, fingerprint(executor(backend).capabilities()), {old->entry});
        !why.empty())
      complain(fmt::format("the ceilings that were measured are not kept in {}: {}", file.string(), why));
  return old->entry;
}

CeilingEntry CeilingTable::find(Backend backend, DType type, Math math, int threads) {
  const CeilingEntry place = place_of(backend, type, math, threads);
  {
    const std::lock_guard lock(mutex_);
    if (const Known* one = known(place)) return one->entry;
  }
  if (const auto file = ceiling_file(); !measure_ && !file.empty()) try {
      for (const CeilingEntry& entry : load_ceilings(file, fingerprint(executor(backend).capabilities())))
        if (entry.same_place(place)) {
          const std::lock_guard lock(mutex_);
          return known_.emplace_back(Known{entry, false}).entry;
        }
    } catch (const CeilingFileError& error) {
      const std::lock_guard lock(mutex_);
      complain(fmt::format("{}: {}; ceilings are measured again{}", file.string(), error.what(),
                           error.replaceable() ? "" : ", and the file stays as it is"));
    }
  return keep(backend, measure(backend, place));
}

CeilingEntry CeilingTable::find_again(Backend backend, DType type, Math math, int threads) {
  const CeilingEntry place = place_of(backend, type, math, threads);
  {
    const std::lock_guard lock(mutex_);
    if (const Known* one = known(place); one != nullptr && one->fresh) return one->entry;
  }
  return keep(backend, measure(backend, place));
}

std::vector<CeilingEntry> CeilingTable::entries() const {
  const std::lock_guard lock(mutex_);
  std::vector<CeilingEntry> entries;
  for (const Known& one : known_)
    if (one.entry.flops > 0) entries.push_back(one.entry);
  return entries;
}

ordered_json CeilingTable::to_json() const {
  ordered_json list = ordered_json::array();
  for (const CeilingEntry& entry : entries()) list.push_back(apps::to_json(entry));
  return list;
}

} // namespace tessera::apps
