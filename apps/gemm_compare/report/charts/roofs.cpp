#include "roofs.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tessera::report {
namespace {

double element_bytes(const std::string& dtype) { return dtype == "f64" ? 8 : dtype == "f32" ? 4 : 2; }

Roof roof_of(const std::vector<const Entry*>& entries) {
  Roof roof{{entries.front()->math}, entries.front()->threads, 0, 0};
  for (const Entry* entry : entries)
    if (entry->ceiling_percent > 0) roof.peak = std::max(roof.peak, ceiling_of(*entry));
  for (const Entry* entry : entries)
    if (entry->ceiling_percent > 0 && ceiling_of(*entry) < 0.99 * roof.peak)
      roof.bandwidth = std::max(roof.bandwidth, ceiling_of(*entry) / intensity(*entry));
  return roof;
}

/// A roof for each mode and number of threads: the highest that a backend measured.
std::vector<Roof> highest_roofs(const std::vector<const Entry*>& entries) {
  std::vector<Roof> roofs;
  for (const EntryGroup& group : group_entries(entries, [](const Entry& entry) {
         return fmt::format("{} {} {}", entry.backend, entry.math, entry.threads);
       })) {
    const Roof roof = roof_of(group.entries);
    if (!(roof.peak > 0)) continue;
    const auto same = std::find_if(roofs.begin(), roofs.end(), [&](const Roof& other) {
      return other.maths == roof.maths && other.threads == roof.threads;
    });
    if (same == roofs.end()) {
      roofs.push_back(roof);
    } else {
      same->peak = std::max(same->peak, roof.peak);
      same->bandwidth = std::max(same->bandwidth, roof.bandwidth);
    }
  }
  return roofs;
}

/// Merges roofs whose peaks are within a tenth of each other, which are mostly the same arithmetic units measured
/// twice, and sorts them, lowest first. All roofs get the group's highest bandwidth, because they share one memory.
std::vector<Roof> merged(const std::vector<Roof>& all) {
  std::vector<Roof> roofs;
  double bandwidth = 0;
  for (const Roof& roof : all) {
    bandwidth = std::max(bandwidth, roof.bandwidth);
    const auto same = std::find_if(roofs.begin(), roofs.end(),
                                   [&](const Roof& other) { return std::abs(other.peak / roof.peak - 1) < 0.1; });
    if (same == roofs.end()) {
      roofs.push_back(roof);
      continue;
    }
    same->peak = std::max(same->peak, roof.peak);
    same->threads = std::max(same->threads, roof.threads);
    if (std::find(same->maths.begin(), same->maths.end(), roof.maths[0]) == same->maths.end())
      same->maths.push_back(roof.maths[0]);
  }
  for (Roof& roof : roofs) roof.bandwidth = bandwidth;
  std::sort(roofs.begin(), roofs.end(), [](const Roof& a, const Roof& b) { return a.peak < b.peak; });
  return roofs;
}

double positive(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number() ? std::max(0.0, at->get<double>()) : 0.0;
}

/// The document's ceilings for the type, place, modes and numbers of threads of these entries.
std::vector<const Json*> ceilings_of(const EntryGroup& group, const Run& run) {
  std::vector<const Json*> found;
  const auto list = run.machine().find("ceilings");
  if (list == run.machine().end() || !list->is_array()) return found;
  const std::string place = run.place(*group.entries.front());
  for (const Json& one : *list) {
    if (!one.is_object() || text_at(one, "device") != (place == "processor" ? "cpu" : place)) continue;
    const bool wanted = std::any_of(group.entries.begin(), group.entries.end(), [&](const Entry* entry) {
      return text_at(one, "dtype") == entry->dtype && text_at(one, "math") == entry->math &&
             positive(one, "threads") == entry->threads;
    });
    if (wanted && positive(one, "flops") > 0) found.push_back(&one);
  }
  return found;
}

} // namespace

double intensity(const Entry& entry) {
  const double m = static_cast<double>(entry.m), n = static_cast<double>(entry.n), k = static_cast<double>(entry.k);
  return 2 * m * n * k / (element_bytes(entry.dtype) * (m * k + k * n + (entry.beta != 0 ? 2 : 1) * m * n));
}

double Roof::at(double x) const { return bandwidth > 0 ? std::min(peak, bandwidth * x) : peak; }

Roofs roofs_of(const EntryGroup& group, const Run& run) {
  const std::vector<const Json*> ceilings = ceilings_of(group, run);
  if (ceilings.empty()) return {merged(highest_roofs(group.entries)), {}};
  Roofs result;
  std::vector<Roof> roofs;
  for (const Json* one : ceilings) {
    roofs.push_back({{text_at(*one, "math")},
                     static_cast<int>(positive(*one, "threads")),
                     positive(*one, "flops") * 1e-9,
                     positive(*one, "bytes_per_second") * 1e-9});
    const auto caches = one->find("caches");
    if (caches == one->end() || !caches->is_array()) continue;
    for (const Json& cache : *caches) {
      if (!cache.is_object()) continue;
      const std::string name = fmt::format("L{:.0f}", positive(cache, "level"));
      const double bandwidth = positive(cache, "bytes_per_second") * 1e-9;
      const auto same = std::find_if(result.caches.begin(), result.caches.end(),
                                     [&](const CacheSlope& slope) { return slope.name == name; });
      if (same != result.caches.end())
        same->bandwidth = std::max(same->bandwidth, bandwidth);
      else if (bandwidth > 0)
        result.caches.push_back({name, bandwidth});
    }
  }
  result.roofs = merged(roofs);
  return result;
}

} // namespace tessera::report
