#pragma once

/// The value that an entry has in a column.

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <variant>

#include "columns.hpp"

namespace tessera::report {

/// Calls `use` with the column's value as the type that Entry has it in.
template <class Use>
auto visit_value(const Column& column, const Entry& entry, Use&& use) {
  return std::visit(
      [&](auto value) {
        if constexpr (std::is_same_v<decltype(value), Stored>)
          return use(entry.number(column.name));
        else if constexpr (std::is_same_v<decltype(value), double (*)(const Entry&)>)
          return use(value(entry));
        else
          return use(entry.*value);
      },
      column.value);
}

/// The number is whole, and is written without a fraction.
inline bool is_count(const Column& column, double number) {
  return column.print == Print::Count && std::abs(number) <= 0x1p53;
}

} // namespace tessera::report
