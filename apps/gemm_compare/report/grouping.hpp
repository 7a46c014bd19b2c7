#pragma once

/// Rows put together that are compared with each other.

#include <functional>
#include <string>
#include <vector>

#include "document.hpp"

namespace tessera::report {

struct RowGroup {
  std::string name;
  std::vector<const Row*> rows; ///< in the document's order: a ladder climbs
};

/// Groups of the rows that `keep` keeps, by name, in the order of their first row.
std::vector<RowGroup> group_rows(const Run& run, const std::function<bool(const Row&)>& keep,
                                 const std::function<std::string(const Row&)>& name_of);

/// The same of rows that are in a group already.
std::vector<RowGroup> group_rows(const std::vector<const Row*>& rows,
                                 const std::function<std::string(const Row&)>& name_of);

/// Multiply-adds of the row's product: what "the largest product" goes by.
double work(const Row& row);

/// What is shown first of groups by product: the largest product with nearly as many timed rows as any.
const RowGroup& main_product(const std::vector<RowGroup>& products);

/// "f32, 1024³": the product that kernels are compared on, its type before it.
std::string product_name(const Row& row);

} // namespace tessera::report
