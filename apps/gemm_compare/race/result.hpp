#pragma once

/// The result of one kernel on one product or reduction.

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/backend/device_state.hpp>
#include <tessera/backend/kernel_resources.hpp>
#include <tessera/checking/compare.hpp>
#include <tessera/checking/freivalds.hpp>

#include "core/measure/time_summary.hpp"
#include "options/options.hpp"
#include "report/entry.hpp"

namespace tessera::compare_app {

struct Group;
struct Task;

enum class Verdict { Pending, Pass, CannotSay, Wrong, Rejected, Skipped, Failed, Interrupted, Timed };

/// The verdict's word in the table and in the JSON report.
std::string_view to_string(Verdict verdict);

using report::unknown;

/// What the race knows of one kernel. Its facts stand in reports as they are here; of its other members entry_of()
/// (reporters/reporter.hpp) makes what reports show. The race computes with types, modes and verdicts, and reports have
/// words for them.
struct Result : report::Facts {
  Operation operation = Operation::Gemm;
  std::string summary;     ///< what an operation of --op does
  std::string_view system; ///< the operation of linear algebra
  Backend backend = Backend::Reference;
  DType type = DType::F32; ///< of the operands, or of complex operands' parts
  bool is_complex = false;
  Math math = Math::Strict;

  std::vector<double> samples; ///< seconds of each timed run
  Timing timing = Timing::Events;
  int runs_per_sample = 1;                 ///< each sample is the mean of this number of runs
  std::string timing_note;                 ///< why this entry was timed by events where a graph was wanted
  std::optional<DeviceState> device_state; ///< right after the last timed run
  double flops = 0;                        ///< floating-point operations of a run of an operation
  double bytes = 0;                        ///< bytes that a run of an operation moves
  double stored_bytes = 0;                 ///< bytes of an operation's arrays
  std::optional<GemmError> error;
  std::optional<FreivaldsResult> freivalds; ///< set if `error` covers some rows of C only
  double expected_seconds = 0;              ///< of a run, where the entry is skipped because it is too long
  /// Of a judged kernel's run, of all its threads; of a system's run on one thread the least of all runs.
  double processor_seconds = unknown;
  Verdict verdict = Verdict::Pending;
  std::string offence; ///< the offence of a judged kernel
};

/// Returns the result of a task that has not run yet, with what every task of a group has: its backend, kernel and
/// threads, and the group's shape and type.
Result pending_task(const Group& group, const Task& task);
/// Returns the result of a product that has not run yet, with what every product has, too: the type of C, and how the
/// command line wants A and B read and the product scaled.
Result pending_product(const Options& options, const Group& group, const Task& task);

/// Sets what a device says that a kernel takes of it.
void set_resources(const KernelResources& resources, report::Facts& facts);

/// "external" for a kernel from outside, else the backend's name.
std::string_view backend_name(const Result& result);

/// The word for the type of the operands. A judged product of whole numbers has operands of int8_t.
std::string_view type_word(const Result& result);

using measure::summarize;
using measure::TimeSummary;

/// Returns the name that --op has for what was computed.
std::string_view operation_name(const Result& result);

/// Floating-point operations of a product, a reduction or another operation.
double operations(const Result& result);

/// Returns the seconds that a run took: the mean of the samples if `use_mean`, else their median; NaN without samples.
double seconds_of(const Result& result, bool use_mean);

/// Fills in the speed-ups over the first rung: gold if it was timed, else the slowest kernel.
void set_speedups(std::vector<Result>& group, bool use_mean);

} // namespace tessera::compare_app
