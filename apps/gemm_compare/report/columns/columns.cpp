#include "columns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "report/format.hpp"
#include "report/grouping.hpp"
#include "value.hpp"

namespace tessera::report {
namespace {

constexpr const char* in_seconds = "s";
constexpr const char* in_roundoffs = "u";

// clang-format off
constexpr std::array all_columns{
    Column{.name = "op", .key = "op", .value = &Entry::op, .print = Print::Word, .unit = "",
           .explains = "gemm, or what --op names",
           .csv = {"op", 10}, .identifies = true},
    Column{.name = "backend", .key = "backend", .value = &Entry::backend, .print = Print::Backend, .unit = "",
           .explains = "the backend whose kernel ran; external is a kernel from a file",
           .table = {"backend", 10}, .csv = {"backend", 20}, .markdown = {"backend", 10}, .page = {"backend", 10},
           .identifies = true, .names_kernel = true},
    Column{.name = "kernel", .key = "kernel", .value = &Entry::kernel, .print = Print::Kernel, .unit = "",
           .explains = "the kernel's name, as --kernels takes it; ≡ marks kernels that keep the contract of their mode",
           .table = {"kernel", 20}, .csv = {"kernel", 30}, .markdown = {"kernel", 20}, .page = {"kernel", 20},
           .identifies = true, .names_kernel = true},
    Column{.name = "dtype", .key = "dtype", .value = &Entry::dtype, .print = Print::Word, .unit = "",
           .explains = "the operands' element type",
           .csv = {"dtype", 40}, .page = {"type", 40}, .identifies = true, .names_kernel = true},
    Column{.name = "math", .key = "math", .value = &Entry::math, .print = Print::Word, .unit = "",
           .explains = "the mode of arithmetic that the kernel computes in",
           .table = {"math", 30, 4}, .csv = {"math", 60}, .markdown = {"math", 30}, .page = {"math", 50},
           .identifies = true, .names_kernel = true},
    Column{.name = "canonical", .key = "canonical", .value = &Entry::canonical, .print = Print::Word, .unit = "",
           .explains = "the kernel keeps the contract of its mode, so that its bits are known",
           .csv = {"canonical", 70}},
    Column{.name = "m", .key = "m", .value = &Entry::m, .print = Print::Plain, .unit = "elements",
           .explains = "rows of op(A) and of C",
           .csv = {"m", 80}, .identifies = true},
    Column{.name = "n", .key = "n", .value = &Entry::n, .print = Print::Plain, .unit = "elements",
           .explains = "columns of op(B) and of C; the length of a reduction's vector",
           .csv = {"n", 90}, .identifies = true},
    Column{.name = "k", .key = "k", .value = &Entry::k, .print = Print::Plain, .unit = "elements",
           .explains = "columns of op(A) and rows of op(B)",
           .csv = {"k", 100}, .identifies = true},
    Column{.name = "product", .key = "", .value = work, .print = Print::Product, .unit = "",
           .explains = "m×n×k; sorted by the number of multiply-adds",
           .page = {"product", 60}},
    Column{.name = "trans_a", .key = "trans_a", .value = &Entry::trans_a, .print = Print::Word, .unit = "",
           .explains = "A is stored transposed",
           .csv = {"trans_a", 110}, .identifies = true},
    Column{.name = "trans_b", .key = "trans_b", .value = &Entry::trans_b, .print = Print::Word, .unit = "",
           .explains = "B is stored transposed",
           .csv = {"trans_b", 120}, .identifies = true},
    Column{.name = "alpha", .key = "alpha", .value = &Entry::alpha, .print = Print::Plain, .unit = "",
           .explains = "the factor of op(A)·op(B)",
           .csv = {"alpha", 130}, .identifies = true},
    Column{.name = "beta", .key = "beta", .value = &Entry::beta, .print = Print::Plain, .unit = "",
           .explains = "the factor of the old C",
           .csv = {"beta", 140}, .identifies = true},
    Column{.name = "sizes", .key = "sizes", .value = &Entry::sizes, .print = Print::Plain, .unit = "",
           .explains = "number of sizes of an operation of --op: n, m and n, or m, n and k",
           .csv = {"sizes", 145}, .optional = true},
    Column{.name = "threads", .key = "threads", .value = &Entry::threads, .print = Print::Threads, .unit = "",
           .explains = "threads that the kernel may use; 0 on a device",
           .table = {"thr", 40, 3}, .csv = {"threads", 150}, .identifies = true, .names_kernel = true},
    Column{.name = "transfer", .key = "transfer", .value = &Entry::transfer, .print = Print::Word, .unit = "",
           .explains = "the entry is a copy between host and device, not a product",
           .identifies = true},
    Column{.name = "median", .key = "seconds/median", .value = &Entry::median, .print = Print::Time, .unit = in_seconds,
           .explains = "median of the runs",
           .table = {"median", 50}, .csv = {"median_seconds", 160}, .markdown = {"time", 40}, .page = {"time", 70}},
    Column{.name = "min", .key = "seconds/min", .value = &Entry::min, .print = Print::Time, .unit = in_seconds,
           .explains = "the fastest run",
           .csv = {"min_seconds", 170}},
    Column{.name = "max", .key = "seconds/max", .value = &Entry::max, .print = Print::Time, .unit = in_seconds,
           .explains = "the slowest run",
           .csv = {"max_seconds", 180}},
    Column{.name = "mean", .key = "seconds/mean", .value = &Entry::mean, .print = Print::Time, .unit = in_seconds,
           .explains = "mean of the runs, in place of the median under --preset report",
           .table = {"mean", 50}, .csv = {"mean_seconds", 190}},
    Column{.name = "samples", .key = "seconds/samples", .value = &Entry::samples, .print = Print::Plain, .unit = "",
           .explains = "timed runs",
           .csv = {"samples", 200}},
    Column{.name = "spread", .key = "", .value = spread_percent, .print = Print::Spread, .unit = "%",
           .explains = "half the spread from the fastest to the slowest run, of the median",
           .table = {"spread", 60, 8}, .page = {"±", 80}},
    Column{.name = "gflops", .key = "gflops", .value = &Entry::gflops, .print = Print::Speed, .unit = "GFLOP/s",
           .explains = "2·m·n·k operations over the time",
           .table = {"GFLOP/s", 80}, .csv = {"gflops", 210}, .markdown = {"speed", 50}, .page = {"GFLOP/s", 90}},
    Column{.name = "bandwidth", .key = "gbytes_per_second", .value = &Entry::bandwidth, .print = Print::Bandwidth,
           .unit = "GB/s",
           .explains = "bytes that an operation of --op moves over the time",
           .table = {"GB/s", 82}, .csv = {"gbytes_per_second", 212}, .markdown = {"GB/s", 52}, .page = {"GB/s", 92},
           .optional = true},
    Column{.name = "bar", .key = "", .value = &Entry::gflops, .print = Print::Bar, .unit = "",
           .explains = "GFLOP/s, or an operation's GB/s, beside the fastest entry's, as a bar, where there is room",
           .table = {"", 85, 7}},
    Column{.name = "bandwidth_ceiling", .key = "ceiling_gbytes_per_second", .print = Print::Bandwidth, .unit = "GB/s",
           .explains = "measured bandwidth of memory, or of the nearest cache that holds an operation's arrays",
           .table = {"ceiling", 88, 7}, .csv = {"ceiling_gbytes_per_second", 214}, .markdown = {"ceiling", 54},
           .page = {"GB/s at most", 94}, .optional = true},
    Column{.name = "ceiling", .key = "ceiling_percent", .value = &Entry::ceiling_percent, .print = Print::Percent,
           .unit = "%",
           .explains = "share of the measured multiply-add peak or bandwidth, whichever binds",
           .table = {"% peak", 90, 1}, .csv = {"ceiling_percent", 220}, .markdown = {"of ceiling", 60},
           .page = {"ceiling", 100}},
    Column{.name = "speedup", .key = "speedup", .value = &Entry::speedup, .print = Print::Factor, .unit = "",
           .explains = "over the first rung",
           .table = {"speed-up", 100, 6}, .csv = {"speedup", 230}, .markdown = {"gain", 70}, .page = {"gain", 110}},
    Column{.name = "model", .key = "model_seconds", .print = Print::Time,
           .unit = in_seconds,
           .explains = "time that the kernel's own count of operations and bytes takes at the measured ceilings",
           .table = {"model", 75, 10}, .csv = {"model_seconds", 232}, .markdown = {"model", 45}, .page = {"model", 85}},
    Column{.name = "global_accesses", .key = "global_accesses", .print = Print::Count,
           .unit = "elements",
           .explains = "elements that the kernel loads from memory and stores there, by its own count",
           .csv = {"global_accesses", 234}, .page = {"accesses", 87}},
    Column{.name = "total_abs", .key = "error/total_abs", .print = Print::Error, .unit = "",
           .explains = "sum of the absolute errors, against the rounded reference",
           .table = {"Σ|Δ|", 110, 12}, .csv = {"total_abs", 240}},
    Column{.name = "max_abs", .key = "error/max_abs", .print = Print::Error, .unit = "",
           .explains = "largest absolute error"},
    Column{.name = "max_rel", .key = "error/max_rel", .print = Print::Error, .unit = "",
           .explains = "largest relative error",
           .table = {"max rel", 120, 9}, .csv = {"max_rel", 250}, .markdown = {"max error", 80}, .page = {"max error", 120}},
    Column{.name = "mean_rel", .key = "error/mean_rel", .value = &Entry::mean_rel, .print = Print::Error, .unit = "",
           .explains = "mean relative error",
           .table = {"mean rel", 130, 11}, .csv = {"mean_rel", 260}},
    Column{.name = "normwise", .key = "error/normwise", .print = Print::Error, .unit = "",
           .explains = "‖Δ‖/‖C‖ in the Frobenius norm",
           .csv = {"normwise", 300}},
    Column{.name = "componentwise", .key = "error/componentwise", .print = Print::Units,
           .unit = in_roundoffs,
           .explains = "largest error ÷ (|A||B|), in units of the type's roundoff",
           .table = {"max u", 140, 13}, .csv = {"componentwise", 310}, .page = {"in u", 150}},
    Column{.name = "row_column", .key = "error/row_column", .print = Print::Units,
           .unit = in_roundoffs,
           .explains = "largest error ÷ (norm of A's row × norm of B's column), in units of the type's roundoff",
           .csv = {"row_column", 320}},
    Column{.name = "norm_product", .key = "error/norm_product", .print = Print::Units,
           .unit = in_roundoffs,
           .explains = "‖Δ‖/(‖A‖‖B‖), in units of the type's roundoff",
           .csv = {"norm_product", 330}},
    Column{.name = "max_over_bound", .key = "error/max_over_bound", .value = &Entry::max_over_bound,
           .print = Print::Bound, .unit = "",
           .explains = "largest error ÷ its proven bound; above 1 is wrong",
           .table = {"max/bound", 150, 5}, .csv = {"max_over_bound", 270}, .markdown = {"of bound", 90},
           .page = {"÷ bound", 130}},
    Column{.name = "differing_bits", .key = "error/differing_bits",
           .print = Print::Count, .unit = "elements",
           .explains = "elements whose bits differ from the reference's",
           .table = {"differ", 160, 2}, .csv = {"differing_bits", 280}, .page = {"bits", 140}},
    Column{.name = "misplaced", .key = "error/misplaced", .print = Print::Count,
           .unit = "elements",
           .explains = "elements that are NaN or Inf where the reference has something else, or the reverse",
           .csv = {"misplaced", 340}},
    Column{.name = "rows", .key = "error/rows", .print = Print::Count, .unit = "rows",
           .explains = "rows of C"},
    Column{.name = "rows_compared", .key = "error/rows_compared", .value = &Entry::rows_compared, .print = Print::Count,
           .unit = "rows",
           .explains = "rows of C that were compared with the reference, element by element",
           .csv = {"rows_compared", 290}},
    Column{.name = "check_seconds", .key = "check_seconds", .print = Print::Time,
           .unit = in_seconds,
           .explains = "time of the entry's check; the first entry of a shape and type includes the reference"},
    Column{.name = "verdict", .key = "verdict", .value = &Entry::verdict, .print = Print::Verdict, .unit = "",
           .explains = "pass, cannot say, wrong, rejected, skipped, failed, interrupted, or timed for a copy",
           .table = {"verdict", 1000}, .csv = {"verdict", 350}, .markdown = {"verdict", 1000}, .page = {"verdict", 30}},
    Column{.name = "reason", .key = "reason", .value = &Entry::reason, .print = Print::Word, .unit = "",
           .explains = "why the entry has its verdict, or a remark",
           .csv = {"reason", 360}},
    Column{.name = "result", .key = "result", .value = &Entry::result, .print = Print::Result, .unit = "",
           .explains = "C's element type, where it is not the operands'",
           .csv = {"result", 50}, .identifies = true, .optional = true},
    Column{.name = "device_seconds", .key = "device_seconds", .print = Print::Time,
           .unit = in_seconds,
           .explains = "time by the device's own clock, where a kernel reads it",
           .table = {"device", 70, 14}, .optional = true},
    Column{.name = "registers", .key = "resources/registers", .print = Print::Count, .unit = "",
           .explains = "registers of a thread of a device's kernel, as the driver says",
           .csv = {"registers", 370}, .page = {"registers", 160}, .optional = true},
    Column{.name = "static_shared", .key = "resources/static_shared", .print = Print::Count, .unit = "bytes",
           .explains = "shared memory of a block that the kernel declares",
           .csv = {"static_shared", 380}, .page = {"shared", 162}, .optional = true},
    Column{.name = "dynamic_shared", .key = "resources/dynamic_shared", .print = Print::Count, .unit = "bytes",
           .explains = "shared memory of a block that the launch asks for",
           .csv = {"dynamic_shared", 390}, .page = {"dynamic", 164}, .optional = true},
    Column{.name = "local_memory", .key = "resources/local_memory", .print = Print::Count, .unit = "bytes",
           .explains = "memory of a thread for arrays and spilled registers",
           .csv = {"local_memory", 400}, .page = {"local", 166}, .optional = true},
    Column{.name = "block_threads", .key = "resources/block_threads", .print = Print::Count, .unit = "",
           .explains = "threads of a block",
           .csv = {"block_threads", 410}, .optional = true},
    Column{.name = "blocks", .key = "resources/blocks", .print = Print::Count, .unit = "",
           .explains = "blocks that a multiprocessor runs at once",
           .csv = {"blocks", 420}, .page = {"blocks", 168}, .optional = true},
    Column{.name = "occupancy", .key = "resources/occupancy_percent", .print = Print::Percent, .unit = "%",
           .explains = "threads of these blocks, of the threads that a multiprocessor can hold",
           .csv = {"occupancy_percent", 430}, .page = {"occupancy", 170}, .optional = true},
    Column{.name = "verify_cost", .key = "verify_percent", .print = Print::Percent, .unit = "%",
           .explains = "time that a product takes longer when it verifies itself (--verify)",
           .table = {"verify", 75, 2}, .csv = {"verify_percent", 440}, .page = {"verify", 172}, .optional = true},
};
// clang-format on

} // namespace

std::span<const Column> columns() { return all_columns; }

std::vector<const Column*> shown_in(Shown Column::*report) {
  std::vector<const Column*> shown;
  for (const Column& column : all_columns)
    if ((column.*report).heading != nullptr) shown.push_back(&column);
  std::stable_sort(shown.begin(), shown.end(), [&](const Column* left, const Column* right) {
    return (left->*report).order < (right->*report).order;
  });
  return shown;
}

const Column* find_column(std::string_view name) {
  const auto* column = std::find_if(all_columns.begin(), all_columns.end(),
                                    [&](const Column& candidate) { return candidate.name == name; });
  return column == all_columns.end() ? nullptr : column;
}

double number_of(const Column& column, const Entry& entry) {
  return visit_value(column, entry, [](const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>)
      return unknown;
    else
      return static_cast<double>(value);
  });
}

bool lacks(const Column& column, const Entry& entry) { return std::isnan(number_of(column, entry)); }

bool is_number(const Column& column) { return column.print >= Print::Product; }

std::string exact_text(const Column& column, const Entry& entry) {
  if (column.print == Print::Result && entry.result.empty()) return entry.dtype;
  return visit_value(column, entry, [&](const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, double>) {
      if (std::isnan(value)) return std::string();
      if (is_count(column, value)) return fmt::format("{}", static_cast<std::int64_t>(value));
    }
    return fmt::format("{}", value);
  });
}

std::string short_text(const Column& column, const Entry& entry) {
  const double value = number_of(column, entry);
  switch (column.print) {
    case Print::Product:
      return product_text(entry);
    case Print::Time:
      return time_text(value);
    case Print::Speed:
      return speed_text(value);
    case Print::Bandwidth:
      return bandwidth_text(value);
    case Print::Spread:
    case Print::Percent:
      return percent_text(value);
    case Print::Factor:
      return factor_text(value);
    case Print::Error:
      return error_text(value);
    case Print::Units:
      return number_text(value);
    case Print::Bound:
      return bound_text(value);
    case Print::Count:
      return count_text(value);
    default:
      return exact_text(column, entry);
  }
}

void set_number(Facts& facts, std::string_view name, double number) {
  const Column* column = find_column(name);
  if (column == nullptr || !std::holds_alternative<Stored>(column->value))
    throw std::logic_error(fmt::format("no column that stores a number is named {}", name));
  facts.numbers[column->name] = number;
}

void set_number(Entry& entry, std::string_view name, double number) {
  const Column* column = find_column(name);
  const auto* member = column == nullptr ? nullptr : std::get_if<double Entry::*>(&column->value);
  if (member != nullptr)
    entry.*(*member) = number;
  else
    set_number(entry.facts(), name, number);
}

} // namespace tessera::report
