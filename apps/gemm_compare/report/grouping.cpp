#include "grouping.hpp"

#include <algorithm>

#include "format.hpp"

namespace tessera::report {

std::vector<RowGroup> group_rows(const Run& run, const std::function<bool(const Row&)>& keep,
                                 const std::function<std::string(const Row&)>& name_of) {
  std::vector<const Row*> kept;
  for (const Row& row : run.rows)
    if (keep(row)) kept.push_back(&row);
  return group_rows(kept, name_of);
}

std::vector<RowGroup> group_rows(const std::vector<const Row*>& rows,
                                 const std::function<std::string(const Row&)>& name_of) {
  std::vector<RowGroup> groups;
  for (const Row* row : rows) {
    const std::string name = name_of(*row);
    auto at = std::find_if(groups.begin(), groups.end(), [&](const RowGroup& group) { return group.name == name; });
    if (at == groups.end()) at = groups.insert(groups.end(), {name, {}});
    at->rows.push_back(row);
  }
  return groups;
}

bool is_strict(const Row& row) { return row.math == "strict"; }

double work(const Row& row) {
  return static_cast<double>(row.m) * static_cast<double>(row.n) * static_cast<double>(row.k);
}

const RowGroup& main_product(const std::vector<RowGroup>& products) {
  const auto timed = [](const RowGroup& group) {
    return std::count_if(group.rows.begin(), group.rows.end(), [](const Row* row) { return row->speed() > 0; });
  };
  std::ptrdiff_t most = 0;
  for (const RowGroup& product : products) most = std::max(most, timed(product));
  const auto rank = [&](const RowGroup& group) {
    return std::pair(4 * timed(group) >= 3 * most, work(*group.rows.front()));
  };
  return *std::max_element(products.begin(), products.end(),
                           [&](const RowGroup& a, const RowGroup& b) { return rank(a) < rank(b); });
}

std::string product_name(const Row& row) {
  return (row.op == "gemm" ? "" : row.op + " ") + row.dtype + ", " + product_text(row);
}

} // namespace tessera::report
