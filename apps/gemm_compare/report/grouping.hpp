#pragma once

/// Groups the entries that are compared with each other.

#include <functional>
#include <string>
#include <vector>

#include "document.hpp"

namespace tessera::report {

struct RowGroup {
  std::string name;
  std::vector<const Row*> rows; ///< in the document's order, which begins with the first rung
};

/// Groups the entries that `keep` keeps by their name. Groups stand in the order of their first entry.
std::vector<RowGroup> group_rows(const Run& run, const std::function<bool(const Row&)>& keep,
                                 const std::function<std::string(const Row&)>& name_of);

/// Groups `rows` by their name. Groups stand in the order of their first entry.
std::vector<RowGroup> group_rows(const std::vector<const Row*>& rows,
                                 const std::function<std::string(const Row&)>& name_of);

/// The entry's mode is strict. Other modes compute another product.
bool is_strict(const Row& row);

/// Multiply-adds of the entry's product, by which products are compared in size.
double work(const Row& row);

/// The group that is shown first: the largest product that has at least three quarters of the most timed entries.
const RowGroup& main_product(const std::vector<RowGroup>& products);

/// The type and the product that kernels are compared on: "f32, 1024³".
std::string product_name(const Row& row);

} // namespace tessera::report
