#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "call.hpp"
#include "core/batch/batch_operand.hpp"
#include "core/batch/results_apart.hpp"
#include "extensions/linear_algebra/arguments.hpp"

namespace tessera {

FailedSystem::FailedSystem(const std::string& why, Index system, Index info)
    : InvalidArgument(why), system_(system), info_(info) {}
FailedSystem::~FailedSystem() = default;

namespace linear_algebra {
namespace {

[[noreturn]] void refuse_batch(const char* function, const std::string& why) {
  throw InvalidArgument(std::string(function) + ": " + why);
}
std::string size_text(const BatchOperand& x) { return std::to_string(x.rows.rows) + "×" + std::to_string(x.rows.cols); }
std::string member_name(const BatchOperand& x, Index i) { return std::string(x.name) + "[" + std::to_string(i) + "]"; }

void check_places(const char* function, const BatchOperand& x, bool has_pointers, Index count) {
  const bool is_used = !x.empty() && count > 0;
  const Stored one{x.name, x.rows.data, x.rows.rows, x.rows.cols, x.rows.ld, x.rows.element};
  check_stored(function, one, is_used && !has_pointers);
  if (!is_used) return;
  if (x.rows.ld > std::numeric_limits<std::ptrdiff_t>::max() / x.element() / x.rows.rows)
    refuse_batch(function, std::string("ld") + x.name + " = " + std::to_string(x.rows.ld) + ", and " +
                               std::to_string(x.rows.rows) + " rows of so many elements overflow the address space");
  if (!has_pointers) {
    const std::string name = std::string("stride_") + x.name;
    if (stride_mistake(name.c_str(), x.rows, x.stride, count).empty()) return;
    refuse_batch(function, std::to_string(count) + " matrices with " + name + " = " + std::to_string(x.stride) +
                               " elements overflow the address space");
  }
  if (x.pointers == nullptr) refuse_batch(function, std::string("the array of pointers ") + x.name + " is null");
  for (Index i = 0; i < count; ++i)
    if (x.pointers[i] == nullptr)
      refuse_batch(function, member_name(x, i) + " is null, and has " + size_text(x) + " elements");
}

/// The addresses of all matrices.
struct AddressRange {
  AddressRange(const BatchOperand& x, Index count) {
    for (Index i = 0; i < count; i += x.pointers != nullptr ? 1 : std::max<Index>(count - 1, 1)) {
      const auto begin = reinterpret_cast<std::uintptr_t>(x.at(i).data);
      low = std::min(low, begin);
      high = std::max(high, begin + static_cast<std::uintptr_t>(x.extent()));
    }
  }
  std::uintptr_t low = std::numeric_limits<std::uintptr_t>::max(), high = 0;
};

/// Does each matrix lie after the one before, or each before it?
bool is_in_order(const BatchOperand& x, Index count) {
  if (x.pointers == nullptr) return count == 1 || std::abs(x.step()) >= x.extent();
  for (Index i = 1; i < count; ++i)
    if (reinterpret_cast<std::uintptr_t>(x.pointers[i]) <
        reinterpret_cast<std::uintptr_t>(x.pointers[i - 1]) + static_cast<std::uintptr_t>(x.extent()))
      return false;
  return true;
}

/// Adds the rows that systems read or write; number 2·i is a matrix that is written, and 2·i + 1 one that is read.
void add_rows(const BatchOperand& x, Index count, bool only_read, std::vector<detail::WrittenRows>& rows) {
  const bool is_shared = x.pointers == nullptr && x.stride == 0 && only_read;
  for (Index i = 0; i < (is_shared ? 1 : count); ++i)
    rows.push_back({.begin = reinterpret_cast<std::uintptr_t>(x.at(i).data),
                    .width = static_cast<std::uintptr_t>(x.rows.cols * x.element()),
                    .pitch = static_cast<std::uintptr_t>(x.rows.ld * x.element()),
                    .rows = static_cast<std::uintptr_t>(x.rows.rows),
                    .product = 2 * static_cast<std::size_t>(i) + (only_read ? 1 : 0),
                    .only_read = only_read});
}

/// Refuses results that share elements with one another, or with what any system reads.
void check_results(const char* function, const BatchOperand& written, const BatchOperand* read, Index count) {
  if (written.empty()) return;
  const bool has_read = read != nullptr && !read->empty();
  const AddressRange results(written, count);
  bool meets = false;
  if (has_read) {
    const AddressRange other(*read, count);
    meets = results.low < other.high && other.low < results.high;
  }
  if (!meets && is_in_order(written, count)) return;
  std::vector<detail::WrittenRows> rows;
  rows.reserve(static_cast<std::size_t>(count) * 2);
  add_rows(written, count, false, rows);
  if (meets) add_rows(*read, count, true, rows);
  const auto shared = detail::find_shared_result(rows);
  if (!shared) return;
  const auto [x, y] = std::minmax(shared->first, shared->second, [](std::size_t p, std::size_t q) {
    return std::pair(p % 2, p) < std::pair(q % 2, q);
  });
  const std::string first = member_name(written, static_cast<Index>(x / 2));
  if (y % 2 == 0)
    refuse_batch(function, first + " and " + member_name(written, static_cast<Index>(y / 2)) +
                               " overlap in memory; each system needs a result of its own");
  refuse_batch(function, first + " overlaps " + member_name(*read, static_cast<Index>(y / 2)) +
                             " in memory; one is read while the other is written");
}

/// A row that is not the matrix's would be a place outside of B.
void check_pivots(const char* function, Index n, Index count, const Index* pivots) {
  const Index* const end = pivots + n * count;
  const Index* const wrong = std::find_if(pivots, end, [&](Index row) { return row < 0 || row >= n; });
  if (wrong != end)
    refuse_batch(function, "pivots[" + std::to_string(wrong - pivots) + "] = " + std::to_string(*wrong) +
                               ", and rows are numbered from 0 to " + std::to_string(n - 1) +
                               "; pass the pivots that lu_batch() has written");
}

bool has_right_sides(BatchTask task) { return task != BatchTask::Lu && task != BatchTask::Cholesky; }
bool has_pivots(BatchTask task) { return task == BatchTask::Lu || task == BatchTask::LuSolve; }

} // namespace

void check_batch(const char* function, BatchTask task, const detail::SystemBatch& call) {
  if (task == BatchTask::Lu) check_sizes(function, {{"m", call.m}});
  check_sizes(function, {{"n", call.n}, {"columns", call.columns}});
  if (const std::string why = count_mistake("count", call.count); !why.empty()) refuse_batch(function, why);
  const auto operand = [&](const detail::BatchMatrices& x, Index rows, Index cols) {
    return BatchOperand{x.name, {x.first, rows, cols, x.ld, call.type.bytes()}, x.all, x.stride};
  };
  const BatchOperand a = operand(call.a, call.m, call.n), b = operand(call.b, call.n, call.columns);
  check_places(function, a, call.a.has_pointers, call.count);
  if (has_right_sides(task)) check_places(function, b, call.b.has_pointers, call.count);
  if (has_pivots(task) && call.pivots == nullptr && call.count > 0 && std::min(call.m, call.n) > 0)
    refuse_batch(function, "pivots is null, and has " + std::to_string(std::min(call.m, call.n)) +
                               " numbers for each of " + std::to_string(call.count) + " systems");
  if (call.count == 0) return;
  if (task == BatchTask::LuSolve && call.columns > 0) check_pivots(function, call.n, call.count, call.pivots);
  has_right_sides(task) ? check_results(function, b, &a, call.count) : check_results(function, a, nullptr, call.count);
}

} // namespace linear_algebra

namespace detail {

void check_batch_lists(std::size_t count_a, std::size_t count_b) {
  if (count_a != count_b)
    throw InvalidArgument("solve_batch: a has " + std::to_string(count_a) + " matrices, b has " +
                          std::to_string(count_b) + "; as many are needed");
}

void check_batch_member(std::size_t i, Index rows_a, Index cols_a, Index rows_b, Index cols_b, Index n, Index columns) {
  const auto expect = [&](const char* name, Index rows, Index cols, Index must_rows, Index must_cols) {
    if (rows == must_rows && cols == must_cols) return;
    throw InvalidArgument("solve_batch: " + std::string(name) + "[" + std::to_string(i) + "] is " +
                          std::to_string(rows) + "×" + std::to_string(cols) + ", and must be " +
                          std::to_string(must_rows) + "×" + std::to_string(must_cols) +
                          "; the systems of a batch have one size");
  };
  expect("a", rows_a, cols_a, n, n);
  expect("b", rows_b, cols_b, n, columns);
}

} // namespace detail
} // namespace tessera
