#pragma once

/// Reads the JSON document of --json ("tessera.compare/1") entry by entry.

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace tessera::report {

using Json = nlohmann::ordered_json;

inline constexpr std::string_view schema = "tessera.compare/1";
inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// The text is no document of this schema; what() says why.
class DocumentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One result as every report sees it: columns/columns.hpp lists the columns and their keys. Values that code of a
/// report reads are members; numbers that only columns show are in `numbers`. A number that the document lacks, or has
/// as null, is `unknown`; a missing word is what the member is initialised with.
struct Entry {
  std::string op = "gemm";
  std::string backend, kernel;
  std::string dtype = "f32", math = "strict";
  std::string result; ///< C's type, where it is not dtype
  std::string device; ///< of a kernel from outside: "cpu" or "cuda"
  bool canonical = false;
  bool transfer = false; ///< a copy between host and device, no product
  std::int64_t m = 0, n = 0, k = 0;
  bool trans_a = false, trans_b = false;
  int sizes = 0; ///< number of sizes of an operation of --op, which are n, m and n, or m, n and k; 0: a kernel's entry
  double alpha = 1, beta = 0;
  int threads = 0; ///< 0: not on the processor

  double median = unknown, min = unknown, max = unknown, mean = unknown; ///< seconds
  int samples = 0;
  double gflops = unknown;
  double bandwidth = unknown; ///< of an operation of --op, in GB/s
  double ceiling_percent = unknown;
  double speedup = unknown; ///< over the first rung

  double mean_rel = unknown;
  double max_over_bound = unknown;
  double rows_compared = unknown;

  std::string verdict = "unknown", reason;

  std::map<std::string, double, std::less<>> numbers; ///< that no member holds, by the names of their columns
  /// Returns one of `numbers`; unknown if the entry has none of this name.
  double number(std::string_view column) const {
    const auto at = numbers.find(column);
    return at == numbers.end() ? unknown : at->second;
  }

  bool timed() const { return median > 0; }
  /// The result was compared with the reference.
  bool compared() const { return rows_compared >= 0; }
  /// The kernel is at fault: the entry neither passed nor was left out on purpose.
  bool failing() const;
  bool square() const { return m == n && n == k; }
  /// The sizes that the entry has are equal.
  bool sizes_are_equal() const {
    return sizes == 0 ? square() || op != "gemm" : sizes < 2 || (m == n && (sizes < 3 || n == k));
  }
  /// The number by which entries are compared: the bandwidth of an operation that moves bytes, else GFLOP/s.
  double speed() const { return bandwidth > 0 ? bandwidth : gflops; }
  const char* speed_unit() const { return bandwidth > 0 ? "GB/s" : "GFLOP/s"; }
};

/// The grade of a kernel that was run at several square sizes; docs/error_bounds.md says what it means.
struct Grade {
  Entry kernel; ///< only backend, kernel, dtype, math and threads are set
  std::string grade;
  double slope = unknown; ///< of log(error) over log(n)
  struct Size {
    double n = 0;
    double error = unknown; ///< largest |Δ| / (|A||B|), in units of the type's roundoff
    bool operator==(const Size&) const = default;
  };
  std::vector<Size> sizes; ///< ascending, each once
};

// NOLINTNEXTLINE(bugprone-exception-escape): moving a Json does not throw, but the library does not say so in code
struct Run {
  Json document; ///< the whole document
  std::vector<Entry> entries;
  std::vector<Grade> grades; ///< empty in documents that have none

  /// The machine's description; an empty object if the document has none.
  const Json& machine() const;
  /// The command that made the document, ready for a shell; empty if the document does not have it.
  std::string command() const;
  /// The backend computes in the host's memory.
  bool on_host(const std::string& backend) const;
  /// The place where the entry was computed: "processor", or the device's backend. Kernels from outside have one, too.
  std::string place(const Entry& entry) const;
  /// The kernel's name, with its number of threads where the run has several numbers.
  std::string label(const Entry& entry) const;
  /// The label and, unless it is strict or part of the kernel's name, the mode: what a chart of several modes writes.
  std::string label_with_mode(const Entry& entry) const;
};

/// A field's text; empty where there is none.
std::string text_at(const Json& object, const char* key);

/// Checks the schema and reads every entry. Throws DocumentError with the place and the reason.
Run read_run(Json document);
/// Reads a document from a file. Throws DocumentError with the file's name, the place and the reason.
Run load_run(const std::string& file);

} // namespace tessera::report
