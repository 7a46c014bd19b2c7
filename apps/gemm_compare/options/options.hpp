#pragma once

/// The options of a run, read and checked from the command line.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/backend/gemm_shape.hpp>
#include <tessera/checking/check.hpp>
#include <tessera/executor.hpp>

#include "gemm_judge/judge.hpp"
#include "gemm_lens/question.hpp"
#include "linear_algebra/catalogue.hpp"
#include "operations/catalogue.hpp"
#include "presets.hpp"

namespace tessera::compare_app {

/// What is raced: the library's products or sums of squares, whose kernels are in ladders, operations that run functors
/// (operations/catalogue.hpp), or operations of linear algebra (linear_algebra/catalogue.hpp).
enum class Operation { Gemm, SumOfSquares, User, System };

/// Returns the word of --op for one of the library's operations.
std::string_view to_string(Operation operation);

/// Describes how kernels on a device are timed. Events: each run between two events. Graph: many runs are recorded and
/// replayed as one. Auto, the default: Graph if the fastest run of a shape is so short that its launch would hide it,
/// else Events.
enum class Timing { Auto, Events, Graph };

/// Returns the word for a timing on the command line and in the JSON report.
std::string_view to_string(Timing timing);

/// Returns the sizes of an operation, of which a product's three are the most that there can be.
inline OperationSizes sizes_of(const GemmShape& shape) { return {shape.m, shape.n, shape.k}; }

/// An operation to race, and its sizes.
struct ChosenOperation {
  NamedOperation named;
  std::vector<GemmShape> shapes; ///< sizes that the operation does not have are 1
};

/// A backend that the command line names. A demanded backend must exist; one that --cpu adds may be missing.
struct BackendRequest {
  Backend backend = Backend::Reference;
  bool demanded = false;
};

/// Ranks of a distributed product.
struct GridWord {
  int rows = 1, cols = 1, layers = 1;
};

/// Describes how operands are filled; see race/data_sets.hpp.
struct Filling {
  Distribution distribution = Distribution::Uniform;
  double low = -1;
  double high = 1;
  bool cancelling = false; ///< A and B are made so that the sums almost vanish
  int scale = 0;           ///< rows of op(A) and columns of op(B) are multiplied by 2^-scale … 2^scale
};

/// What whole numbers are filled with where the command line names no distribution.
inline constexpr Filling default_whole{Distribution::Integers, -1000, 1000};

/// Kernels from outside, and how they are judged.
struct Judging {
  std::vector<std::string> files;
  judge::Abi abi = judge::Abi::Leetgpu;
  std::optional<judge::Device> device;             ///< empty: KernelFile decides by the file
  Math math = Math::Strict;                        ///< decides the error bound
  std::string flags;                               ///< for the compiler, instead of the usual optimisation flags
  double time_limit = 30;                          ///< seconds for each call
  std::size_t memory_limit = std::size_t{4} << 30; ///< bytes of address space on the processor; 0: none
};

/// A product in files whose C is checked.
struct CheckRequest {
  std::string a, b, c;                       ///< .npy files
  std::string c_before, bias, residual;      ///< .npy files, or empty
  std::optional<CheckedType> type_a, type_b; ///< what files of bytes without a type hold
  CheckOptions options;
};

/// The options whose value is what was typed. CommandLine (options_parse.hpp) has them as well, and Options takes all
/// of them at once.
struct PlainOptions {
  std::vector<std::string> op_plugins; ///< libraries with operations
  std::string file_a, file_b, file_c, file_out;
  std::string distribution; ///< the word of --dist; empty: the default

  bool distributed = false;     ///< race the engines of distributed products over the ranks of mpirun
  bool resident = false;        ///< ranks keep the matrices in the memory of their backend
  bool device_messages = false; ///< ranks send panels from and into the memory of their backends

  bool measure_ceilings = false; ///< even if the file of ceilings has them
  bool verify = false;           ///< time products that verify themselves, too
  bool tunes = false;            ///< gemm_compare tune

  bool list = false;
  bool list_operations = false;          ///< list these alone
  bool errors = false;                   ///< show the histogram and the worst elements of each entry below its table
  std::string json, csv, html, markdown; ///< a file, "-" for stdout, or empty
  std::string report;                    ///< of an earlier run, which --html and --markdown are made from
  bool fail_on_slower = false;           ///< of --diff

  /// The plain options alone: options.plain() = words.plain() takes all of them.
  PlainOptions& plain() { return *this; }
  const PlainOptions& plain() const { return *this; }
};

struct Options : PlainOptions {
  Operation operation = Operation::Gemm;
  std::vector<ChosenOperation> operations;     ///< of Operation::User
  std::vector<const SystemOperation*> systems; ///< of Operation::System
  std::vector<detail::NumberType> numbers;     ///< the types of such operations

  // These say which entries are raced.
  std::vector<BackendRequest> backends; ///< empty: all that are available
  std::vector<std::string> kernels;     ///< shell patterns; empty: all
  bool kernels_of_preset = false;       ///< a pattern that matches nothing is passed over
  std::vector<DType> types{DType::F32};
  std::optional<DType> result; ///< type of C; empty: the operands' type
  bool types_given = false;    ///< --dtype was given, and .npy files must have that type
  std::vector<Math> maths;     ///< empty: all
  bool all_modes = false;      ///< race models of a GPU's matrix units, too; see race/plan.hpp
  std::vector<int> threads;    ///< empty: the default number

  // These say which products are computed.
  std::vector<GemmShape> shapes;
  Op op_a = Op::None;
  Op op_b = Op::None;
  double alpha = 1;
  double beta = 0;
  Index ld_pad = -1; ///< elements between two rows of a stored matrix; −1: rows end at whole cache lines
  Filling filling;
  std::uint64_t seed = 1;
  std::size_t memory_limit = 0; ///< of a product from files to a file; 0: the files are loaded and kernels raced
  std::vector<int> devices;     ///< that compute it, or that ranks take in turn; empty: the backend's own choice
  bool start_over = false;      ///< discard an unfinished one

  Judging judging;
  std::optional<CheckRequest> check;  ///< of --check, which races nothing
  std::optional<lens::Question> lens; ///< of --lens, which races nothing

  // These are for --distributed.
  std::vector<GridWord> grids; ///< empty: the best one for each shape
  Index block = 0;             ///< side of the blocks that matrices are dealt in; 0: the library's choice

  // These say how to measure.
  int repeat = 7;
  Timing timing = Timing::Auto;
  double time_limit = 10; ///< seconds for one kernel and shape; 0: none
  Index check_rows = 0;   ///< the most rows of C that are checked; 0: as many as take a few seconds
  std::string cblas = "auto";

  // These say what to show.
  const Preset* preset = nullptr; ///< whose published figures are shown beside the results
  bool mean = false;              ///< show the mean time instead of the median, and a table over the sizes
  bool progress = true;
  std::vector<std::string> columns; ///< of the table, from left to right; empty: the usual ones that fit
  std::optional<std::size_t> width; ///< of the table; 0: no limit; empty: the terminal's
  std::vector<std::string> command; ///< the command line as it was typed, for the reports

  // These are for gemm_compare tune.
  std::string tuning_table;    ///< the file; empty: the user's own
  double tuning_seconds = 600; ///< for all shapes

  std::string diff_old, diff_new; ///< reports of earlier runs that are compared, instead of running

  /// Does the command line name the backend, so that it must not be missing?
  bool demands(Backend backend) const;
  DType result_of(DType operands) const { return result.value_or(operands); }
  bool reads_files() const { return !file_a.empty(); }
  bool shows_report() const { return !report.empty(); }
  bool compares_reports() const { return !diff_old.empty(); }
  bool table_on_stdout() const { return json != "-" && csv != "-" && html != "-" && markdown != "-"; }
  bool wants_document() const { return !json.empty() || !html.empty() || !markdown.empty(); }
};

/// Parses the command line. Returns nothing if it printed the answer to --help or --version, after which the program is
/// done. Throws InvalidArgument with what is wrong and the nearest valid word.
std::optional<Options> parse_options(int argc, char** argv);

} // namespace tessera::compare_app
