#pragma once

/// Groups the entries that are compared with each other.

#include <functional>
#include <string>
#include <vector>

#include "document.hpp"

namespace tessera::report {

struct EntryGroup {
  std::string name;
  std::vector<const Entry*> entries; ///< in the document's order, which begins with the first rung
};

/// Groups the entries that `keep` keeps by their name. Groups stand in the order of their first entry.
std::vector<EntryGroup> group_entries(const Run& run, const std::function<bool(const Entry&)>& keep,
                                      const std::function<std::string(const Entry&)>& name_of);

/// Groups `entries` by their name. Groups stand in the order of their first entry.
std::vector<EntryGroup> group_entries(const std::vector<const Entry*>& entries,
                                      const std::function<std::string(const Entry&)>& name_of);

/// The entry's mode is strict. Other modes compute another product.
bool is_strict(const Entry& entry);

/// Multiply-adds of the entry's product, by which products are compared in size.
double work(const Entry& entry);

/// The group that is shown first: the largest product that has at least three quarters of the most timed entries.
const EntryGroup& main_product(const std::vector<EntryGroup>& products);

/// The type and the product that kernels are compared on: "f32, 1024³".
std::string product_name(const Entry& entry);

} // namespace tessera::report
