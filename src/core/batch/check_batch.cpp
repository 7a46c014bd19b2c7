/// Checks everything that can be wrong with a batch's arguments: each group's shape once, then its pointers or strides.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>

#include <tessera/detail/column_major.hpp>
#include <tessera/executor.hpp>

#include "batch_operand.hpp"
#include "results_apart.hpp"

namespace tessera {
namespace {

Status invalid_batch(std::string why) { return Status::failure(StatusCode::InvalidArgument, std::move(why)); }

std::string digits(Index value) { return std::to_string(value); }

/// The operands of a group, and the words for them. A column-major product is computed as its transpose: its A is the
/// group's b (detail/column_major.hpp).
struct BatchOperands {
  BatchOperands(const GemmBatch& group, bool columns)
      : a(batch_operand_a(group)), b(batch_operand_b(group)), c(batch_operand_c(group)), by_columns(columns) {
    if (by_columns) std::swap(a.name, b.name);
  }
  std::string shape_text(const StoredRows& x) const {
    return digits(by_columns ? x.cols : x.rows) + "×" + digits(by_columns ? x.rows : x.cols);
  }

  BatchOperand a, b, c;
  bool by_columns;
};

Status check_product(const GemmCall& call, bool by_columns) {
  return by_columns ? detail::check_column_major(call) : check_gemm(call);
}

/// True if the address ranges of the two rectangles meet; their elements may still be apart.
bool near(const StoredRows& x, Index extent_x, const StoredRows& y, Index extent_y) {
  const auto begin_x = reinterpret_cast<std::uintptr_t>(x.data), begin_y = reinterpret_cast<std::uintptr_t>(y.data);
  return begin_x < begin_y + static_cast<std::uintptr_t>(extent_y) &&
         begin_y < begin_x + static_cast<std::uintptr_t>(extent_x);
}

Status check_no_null(const BatchOperands& all, const BatchOperand& x, Index count) {
  if (x.rows.rows <= 0 || x.rows.cols <= 0) return {};
  const auto* const end = x.pointers + count;
  const auto* const null = std::find(x.pointers, end, nullptr);
  if (null == end) return {};
  return invalid_batch("gemm batch: " + std::string(x.name) + "[" + digits(null - x.pointers) + "] is null, but has " +
                       all.shape_text(x.rows) + " elements");
}

/// True if near() holds for the i-th x and the i-th C for some i. The loop has no branches, so that thousands of
/// pointers take hardly any time.
bool any_near(const BatchOperand& x, const BatchOperand& c, Index count) {
  const auto extent_x = static_cast<std::uintptr_t>(x.extent()), extent_c = static_cast<std::uintptr_t>(c.extent());
  if (extent_x == 0 || extent_c == 0) return false;
  bool any = false;
  for (Index i = 0; i < count; ++i) {
    // C begins less than extent_x after x, or x less than extent_c after C.
    const auto after_x =
        reinterpret_cast<std::uintptr_t>(c.pointers[i]) - reinterpret_cast<std::uintptr_t>(x.pointers[i]);
    any |= after_x + (extent_c - 1) < extent_x + (extent_c - 1);
  }
  return any;
}

Status check_own_result(const BatchOperands& all, const BatchOperand& x, Index count) {
  const BatchOperand& c = all.c;
  if (!any_near(x, c, count)) return {};
  const Index extent_x = x.extent(), extent_c = c.extent();
  for (Index i = 0; i < count; ++i) {
    const StoredRows one = x.at(i), result = c.at(i);
    if (near(one, extent_x, result, extent_c) && overlap(one, result))
      return invalid_batch("gemm batch: c[" + digits(i) + "] overlaps " + x.name + "[" + digits(i) +
                           "] in memory (c is " + all.shape_text(result) + ", " + x.name + " is " +
                           all.shape_text(one) + "); a product needs a separate result");
  }
  return {};
}

/// Checks that no C overlaps the bias or the residual: all products of a group read them while C is written.
Status check_epilogue_apart(const GemmBatch& group, const BatchOperand& c) {
  const Epilogue& epilogue = group.call.epilogue;
  if (epilogue.empty() || c.empty()) return {};
  const GemmCall& call = group.call;
  const Index numbers = epilogue.bias_per == BiasPer::Row ? call.m : call.n;
  const void* const bias = epilogue.bias_per == BiasPer::None ? nullptr : epilogue.bias;
  for (const BatchOperand& x :
       {BatchOperand{"bias", {bias, numbers, 1, epilogue.bias_step, size_of(call.result)}, nullptr, 0},
        BatchOperand{
            "residual", {epilogue.residual, call.m, call.n, epilogue.ld_residual, size_of(call.result)}, nullptr, 0}})
    for (Index i = 0; i < group.count && x.rows.data != nullptr; ++i)
      if (near(x.rows, x.extent(), c.at(i), c.extent()) && overlap(x.rows, c.at(i)))
        return invalid_batch("gemm batch: c[" + digits(i) + "] overlaps the epilogue's " + x.name +
                             " in memory, which every product reads; use a copy of it");
  return {};
}

Status check_pointers(const GemmBatch& group, bool by_columns) {
  const BatchOperands all(group, by_columns);
  for (const auto& [array, name] : {std::pair{group.a, all.a.name}, std::pair{group.b, all.b.name}})
    if (array == nullptr)
      return invalid_batch("gemm batch: the array of pointers " + std::string(name) +
                           " is null, but that of c is not; pass all three, or none and strides");
  for (const BatchOperand* x : {&all.a, &all.b, &all.c})
    if (Status status = check_no_null(all, *x, group.count); !status.ok()) return status;
  if (Status status = check_product(group.product(0), by_columns); !status.ok()) return status;
  for (const BatchOperand* x : {&all.a, &all.b})
    if (Status status = check_own_result(all, *x, group.count); !status.ok()) return status;
  return check_epilogue_apart(group, all.c);
}

Status check_stride(const BatchOperand& x, Index count) {
  const std::string name = std::string("stride_") + x.name;
  const std::string why = stride_mistake(name.c_str(), x.rows, x.stride, count);
  return why.empty() ? Status{} : invalid_batch("gemm batch: " + why);
}

/// Returns the rectangles of x in the order of their addresses.
BatchOperand ascending(BatchOperand x, Index count) {
  if (count == 1) x.stride = 0;
  if (x.stride >= 0) return x;
  x.rows.data = x.at(count - 1).data;
  x.stride = -x.stride;
  return x;
}

/// Returns the first j in [first, end) for which the j-th x overlaps the i-th C, or −1.
Index meets(const BatchOperand& c, Index i, const BatchOperand& x, Index first, Index end) {
  const StoredRows result = c.at(i);
  // An x that overlaps begins between these distances, in bytes from the first x.
  const std::intptr_t from = c.begin() + i * c.step() - x.begin() - x.extent();
  const std::intptr_t to = c.begin() + i * c.step() - x.begin() + c.extent();
  const Index step = x.step();
  if (step > 0) { // one more at either end, because division rounds towards zero
    first = std::max<Index>(first, from / step - 1);
    end = std::min<Index>(end, to / step + 2);
  }
  for (Index j = first; j < end; ++j)
    if (overlap(result, x.at(j))) return j;
  return -1;
}

Status check_results_apart(const BatchOperands& all, Index count) {
  const BatchOperand& given = all.c;
  const BatchOperand c = ascending(given, count);
  if (count == 1 || c.empty() || c.step() >= c.extent()) return {};
  const Index other = meets(c, 0, c, 1, count);
  if (other < 0) return {};
  return invalid_batch("gemm batch: stride_c = " + digits(given.stride) + " makes the results of products 0 and " +
                       digits(other) + " overlap: each is " + all.shape_text(c.rows) +
                       " with ldc = " + digits(c.rows.ld));
}

Status check_apart_from(const BatchOperands& all, const BatchOperand& given_x, Index count) {
  const BatchOperand& given_c = all.c;
  const BatchOperand x = ascending(given_x, count), c = ascending(given_c, count);
  if (x.empty() || c.empty()) return {};
  const Index all_x = (count - 1) * x.step() + x.extent(), all_c = (count - 1) * c.step() + c.extent();
  if (!near(x.rows, all_x, c.rows, all_c)) return {};
  // The rectangles may be interleaved. With equal strides all that counts is the distance of x and C.
  const bool equal = x.step() == c.step();
  Index i = 0;
  Index j = meets(c, i, x, equal ? 1 - count : 0, x.stride == 0 ? 1 : count);
  while (j < 0 && !equal && ++i < count) j = meets(c, i, x, 0, x.stride == 0 ? 1 : count);
  if (j < 0) return {};
  return invalid_batch(std::string("gemm batch: a c overlaps ") + (x.name[0] == 'a' ? "an a" : "a b") +
                       " in memory (stride_c = " + digits(given_c.stride) + ", stride_" + x.name + " = " +
                       digits(given_x.stride) + ", c is " + all.shape_text(c.rows) + ", " + x.name + " is " +
                       all.shape_text(x.rows) + "); the products need separate results");
}

Status check_strides(const GemmBatch& group, bool by_columns) {
  const BatchOperands all(group, by_columns);
  if (group.a != nullptr || group.b != nullptr)
    return invalid_batch("gemm batch: the array of pointers c is null, but that of " +
                         std::string(group.a != nullptr ? all.a.name : all.b.name) +
                         " is not; pass all three, or none and strides");
  if (Status status = check_product(group.call, by_columns); !status.ok()) return status;
  for (const BatchOperand* x : {&all.a, &all.b, &all.c})
    if (Status status = check_stride(*x, group.count); !status.ok()) return status;
  if (Status status = check_results_apart(all, group.count); !status.ok()) return status;
  for (const BatchOperand* x : {&all.a, &all.b})
    if (Status status = check_apart_from(all, *x, group.count); !status.ok()) return status;
  return check_epilogue_apart(group, all.c);
}

Status check_ends(const GemmBatch& group) {
  if (group.has_pointers() || group.a != nullptr || group.b != nullptr)
    return invalid_batch("gemm batch: ends divide the rows of one A and one C, but there are arrays of pointers");
  if (group.stride_a != 0 || group.stride_c != 0)
    return invalid_batch("gemm batch: stride_a = " + digits(group.stride_a) + " and stride_c = " +
                         digits(group.stride_c) + " must be 0 where ends divide the rows of A and C");
  if (!group.call.epilogue.empty())
    return invalid_batch("gemm batch: there is no epilogue where ends divide the rows; apply it to C afterwards");
  if (Status status = check_gemm(group.call); !status.ok()) return status;
  const BatchOperand b = batch_operand_b(group);
  if (Status status = check_stride(b, group.count); !status.ok()) return status;
  BatchOperand c = batch_operand_c(group);
  for (Index i = 0; i < group.count && !b.empty() && !c.empty(); ++i)
    if (near(b.at(i), b.extent(), c.rows, c.extent()) && overlap(b.at(i), c.rows))
      return invalid_batch("gemm batch: c overlaps b of product " + digits(i) +
                           " in memory; the products need a separate result");
  return {};
}

Status check_group(const GemmBatch& group, bool by_columns) {
  if (const std::string why = count_mistake("count", group.count); !why.empty())
    return invalid_batch("gemm batch: " + why);
  if (group.count == 0) return {};
  if (group.ends.data != nullptr) return check_ends(group);
  return group.has_pointers() ? check_pointers(group, by_columns) : check_strides(group, by_columns);
}

Status in_group(Status status, std::size_t group, std::size_t groups) {
  if (groups > 1) status.why = "group " + std::to_string(group) + ": " + status.why;
  return status;
}

/// Checks results that are not of one group with strides.
Status check_all_results_apart(std::span<const GemmBatch> groups, bool by_columns) {
  const auto shared = detail::find_shared_result(groups);
  if (!shared) return {};
  const auto& [x, y] = *shared;
  const auto shown = [&](const detail::ProductPlace& place) {
    const BatchOperands all(groups[place.group], by_columns);
    return all.shape_text(all.c.rows) + " with ldc = " + digits(all.c.rows.ld);
  };
  const std::string why =
      " overlap in memory (" + shown(x) + ", and " + shown(y) + "); each product needs a result of its own";
  if (x.group == y.group)
    return in_group(invalid_batch("gemm batch: c[" + digits(x.index) + "] and c[" + digits(y.index) + "]" + why),
                    x.group, groups.size());
  const auto named = [](const detail::ProductPlace& place) {
    return "product " + digits(place.index) + " of group " + std::to_string(place.group);
  };
  return invalid_batch("gemm batch: the results of " + named(x) + " and " + named(y) + why);
}

Status check_groups(std::span<const GemmBatch> groups, bool by_columns) {
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (Status status = check_group(groups[g], by_columns); !status.ok())
      return in_group(std::move(status), g, groups.size());
  return check_all_results_apart(groups, by_columns);
}

} // namespace

std::string count_mistake(const char* name, Index count) {
  if (count < 0) return std::string(name) + " = " + digits(count) + " is negative";
  constexpr Index most = Index{1} << 56; // no address space has room for more pointers or results
  if (count > most) return std::string(name) + " = " + digits(count) + " overflows the address space";
  return {};
}

std::string stride_mistake(const char* name, const StoredRows& one, Index stride, Index count) {
  if (count <= 1) return {};
  constexpr Index most = std::numeric_limits<Index>::max() / 4; // so that the distance of any two fits an Index
  const BatchOperand x{name, one, nullptr, stride};
  Index bytes = 0;
  bool fits = stride != std::numeric_limits<Index>::min() &&
              !__builtin_mul_overflow(std::abs(stride), (count - 1) * x.element(), &bytes) && x.extent() <= most &&
              bytes <= most - x.extent();
  if (fits && one.data != nullptr && x.begin() > 0)
    fits = stride < 0 ? bytes < x.begin() : bytes + x.extent() <= std::numeric_limits<Index>::max() - x.begin();
  if (fits) return {};
  return digits(count) + " products with " + name + " = " + digits(stride) + " elements of " + digits(x.element()) +
         " bytes overflow the address space";
}

Status check_gemm_batch(std::span<const GemmBatch> groups) { return check_groups(groups, false); }

Status detail::check_column_major(std::span<const GemmBatch> groups) { return check_groups(groups, true); }

} // namespace tessera
