#include "grouping.hpp"

#include <algorithm>

#include "format.hpp"

namespace tessera::report {

std::vector<EntryGroup> group_entries(const Run& run, const std::function<bool(const Entry&)>& keep,
                                      const std::function<std::string(const Entry&)>& name_of) {
  std::vector<const Entry*> kept;
  for (const Entry& entry : run.entries)
    if (keep(entry)) kept.push_back(&entry);
  return group_entries(kept, name_of);
}

std::vector<EntryGroup> group_entries(const std::vector<const Entry*>& entries,
                                      const std::function<std::string(const Entry&)>& name_of) {
  std::vector<EntryGroup> groups;
  for (const Entry* entry : entries) {
    const std::string name = name_of(*entry);
    auto at = std::find_if(groups.begin(), groups.end(), [&](const EntryGroup& group) { return group.name == name; });
    if (at == groups.end()) at = groups.insert(groups.end(), {name, {}});
    at->entries.push_back(entry);
  }
  return groups;
}

bool is_strict(const Entry& entry) { return entry.math == "strict"; }

double work(const Entry& entry) {
  return static_cast<double>(entry.m) * static_cast<double>(entry.n) * static_cast<double>(entry.k);
}

const EntryGroup& main_product(const std::vector<EntryGroup>& products) {
  const auto timed = [](const EntryGroup& group) {
    return std::count_if(group.entries.begin(), group.entries.end(),
                         [](const Entry* entry) { return entry->speed() > 0; });
  };
  std::ptrdiff_t most = 0;
  for (const EntryGroup& product : products) most = std::max(most, timed(product));
  const auto rank = [&](const EntryGroup& group) {
    return std::pair(4 * timed(group) >= 3 * most, work(*group.entries.front()));
  };
  return *std::max_element(products.begin(), products.end(),
                           [&](const EntryGroup& a, const EntryGroup& b) { return rank(a) < rank(b); });
}

std::string product_name(const Entry& entry) {
  return (entry.op == "gemm" ? "" : entry.op + " ") + entry.dtype + ", " + product_text(entry);
}

} // namespace tessera::report
