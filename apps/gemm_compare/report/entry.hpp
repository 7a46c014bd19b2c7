#pragma once

/// An entry of a report: what is known of one kernel on one product.

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>

namespace tessera::report {

inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// The part of an entry that a race knows in the form that reports show: its words are words there, too. The race's
/// result has these facts, and an entry takes all of them at once. Numbers that only columns show are in `numbers`;
/// what code reads is a member.
struct Facts {
  std::string kernel;
  std::string device; ///< of a kernel from outside: "cpu" or "cuda"; empty for all others
  std::string result; ///< C's type, where it is not the operands'
  bool canonical = false;
  bool transfer = false;            ///< a copy between host and device, which is timed but is no product
  std::int64_t m = 0, n = 0, k = 0; ///< of a reduction n is the length
  bool trans_a = false, trans_b = false;
  int sizes = 0; ///< number of sizes of an operation of --op, which are n, m and n, or m, n and k; 0: a kernel's entry
  double alpha = 1, beta = 0;
  int threads = 0; ///< 0: not on the processor

  double gflops = unknown;
  double bandwidth = unknown; ///< of an operation of --op, in GB/s
  double ceiling_percent = unknown;
  double speedup = unknown; ///< over the first rung
  std::string reason;       ///< why it was rejected, skipped, …; or a remark

  std::map<std::string, double, std::less<>> numbers; ///< that no member holds, by the names of their columns
  /// Returns one of `numbers`; unknown if there is none of this name.
  double number(std::string_view column) const {
    const auto at = numbers.find(column);
    return at == numbers.end() ? unknown : at->second;
  }

  /// The facts alone of a result or of an entry: entry.facts() = result.facts() takes all of them.
  Facts& facts() { return *this; }
  const Facts& facts() const { return *this; }

  bool square() const { return m == n && n == k; }
  /// The number by which entries are compared: the bandwidth of an operation that moves bytes, else GFLOP/s.
  double speed() const { return bandwidth > 0 ? bandwidth : gflops; }
  const char* speed_unit() const { return bandwidth > 0 ? "GB/s" : "GFLOP/s"; }
};

/// One result as every report sees it: columns/columns.hpp lists the columns and their keys. Types, modes and verdicts
/// are words, because an old document may name what this version does not know. A number that the document lacks, or
/// has as null, is `unknown`; a missing word is what the member is initialised with.
struct Entry : Facts {
  std::string op = "gemm";
  std::string backend;
  std::string dtype = "f32", math = "strict";

  double median = unknown, min = unknown, max = unknown, mean = unknown; ///< seconds
  int samples = 0;

  double mean_rel = unknown;
  double max_over_bound = unknown;
  double rows_compared = unknown;

  std::string verdict = "unknown";

  bool timed() const { return median > 0; }
  /// The result was compared with the reference.
  bool compared() const { return rows_compared >= 0; }
  /// The kernel is at fault: the entry neither passed nor was left out on purpose.
  bool failing() const;
  /// The sizes that the entry has are equal.
  bool sizes_are_equal() const {
    return sizes == 0 ? square() || op != "gemm" : sizes < 2 || (m == n && (sizes < 3 || n == k));
  }
};

} // namespace tessera::report
