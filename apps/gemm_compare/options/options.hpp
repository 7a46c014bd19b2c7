#pragma once

/// What the command line asked for, checked word by word.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/executor.hpp>

#include "judge/judge.hpp"

namespace tessera::compare_app {

enum class Operation { Gemm, SumOfSquares };

/// How a device's kernels are timed: each run between two events, or many recorded and replayed as one; by default that
/// where a shape's fastest run is so short that its launch would hide it.
enum class Timing { Auto, Events, Graph };

/// The word on the command line and in the JSON report.
std::string_view to_string(Timing timing);

struct Shape {
  Index m = 0;
  Index n = 0;
  Index k = 0;
  bool operator==(const Shape&) const = default;
};

/// A backend that the command line names. One that is demanded must be there; --cpu takes what there is.
struct BackendRequest {
  Backend backend = Backend::Reference;
  bool demanded = false;
};

/// How operands are filled; see data_sets.hpp.
struct Filling {
  Distribution distribution = Distribution::Uniform;
  double low = -1;
  double high = 1;
  bool cancelling = false; ///< A and B are then made to cancel
};

/// Kernels from outside, and how they are judged.
struct Judging {
  std::vector<std::string> files;
  judge::Abi abi = judge::Abi::Leetgpu;
  std::optional<judge::Device> device; ///< empty: as the file looks
  Math math = Math::Strict;            ///< decides the bound
  std::string flags;                   ///< for the compiler, in place of the usual optimisation
  double time_limit = 30;              ///< seconds for each call
  std::size_t memory_limit = std::size_t{4} << 30;
};

struct Options {
  Operation operation = Operation::Gemm;

  // Which rows.
  std::vector<BackendRequest> backends; ///< empty: all that are available
  std::vector<std::string> kernels;     ///< shell patterns; empty: all
  std::vector<DType> types{DType::F32};
  std::optional<DType> result; ///< of C; empty: the operands' type
  bool types_given = false;    ///< by --dtype itself, which .npy files must then agree with
  std::vector<Math> maths;     ///< empty: all
  std::vector<int> threads;    ///< empty: the default number

  // Which products.
  std::vector<Shape> shapes;
  Op op_a = Op::None;
  Op op_b = Op::None;
  double alpha = 1;
  double beta = 0;
  Filling filling;
  std::uint64_t seed = 1;
  std::string file_a, file_b, file_c, file_out;

  Judging judging;

  // How to measure.
  int repeat = 7;
  Timing timing = Timing::Auto;
  double time_limit = 10; ///< seconds for one kernel and shape; 0: none
  Index check_rows = 0;   ///< rows of C that are checked, at most; 0: as many as take a few seconds
  std::string cblas = "auto";
  bool measure_ceilings = false; ///< even if they are known

  // What to show.
  bool list = false;
  bool errors = false; ///< each row's histogram and worst elements, below its table
  bool mean = false;   ///< the mean time instead of the median
  bool progress = true;
  std::string json, csv, html, markdown; ///< a file, "-" for stdout, or empty
  std::vector<std::string> command;      ///< as it was typed, for the reports
  std::string distribution;              ///< as it was typed; empty: the default

  // gemm_compare tune.
  bool tunes = false;
  std::string tuning_table;    ///< the file; empty: the user's own
  double tuning_seconds = 600; ///< for all shapes

  // Reports of earlier runs instead of a run.
  std::string report; ///< what --html and --markdown are made from
  std::string diff_old, diff_new;
  bool fail_on_slower = false;

  DType result_of(DType operands) const { return result.value_or(operands); }
  bool reads_files() const { return !file_a.empty(); }
  bool shows_report() const { return !report.empty(); }
  bool compares_reports() const { return !diff_old.empty(); }
  bool table_on_stdout() const { return json != "-" && csv != "-" && html != "-" && markdown != "-"; }
  bool wants_document() const { return !json.empty() || !html.empty() || !markdown.empty(); }
};

/// Parses the command line. Returns nothing if the program has said what was asked (--help, --version) and is done.
/// Throws InvalidArgument with what is wrong and the nearest valid word.
std::optional<Options> parse_options(int argc, char** argv);

} // namespace tessera::compare_app
