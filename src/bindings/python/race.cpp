#include "race.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include <tessera/backend.hpp>
#include <tessera/detail/number_text.hpp>

#include "core/executor/executor_memory.hpp"
#include "core/gemm/check_gemm.hpp"
#include "core/measure/repeat.hpp"
#include "errors.hpp"

namespace tessera::python {
namespace {

/// The largest number of multiply-adds of the reference. It compares some rows of larger products, and Freivalds' check
/// tests the others.
constexpr double reference_products = 5e8;
constexpr Index least_rows_compared = 16;
/// A product with more multiply-adds is timed on a few rows first.
constexpr double probe_from = 2.5e8;
constexpr double probe_seconds = 0.05;
constexpr std::uint64_t seed = 1;

const GemmKernel& find_kernel(Executor& executor, std::string_view name, DType type, Math math) {
  for (const GemmKernel& kernel : executor.gemm_kernels())
    if (kernel.name == name && kernel.type == type && kernel.math == math) return kernel;
  throw InvalidArgument("backend " + std::string(to_string(executor.capabilities().backend)) + " has no kernel '" +
                        std::string(name) + "' for " + dtype_name(type) + " in math mode " +
                        std::string(to_string(math)) + "; tessera.kernels() lists those that there are");
}

/// An operand in an executor's memory: the host's elements themselves, or a copy on a device.
class Resident {
 public:
  Resident(Executor& executor, const StoredRows& stored, DType type, bool filled)
      : data_(const_cast<void*>(stored.data)), ld_(stored.ld), copy_(executor) {
    if (executor.capabilities().host_memory || stored.rows == 0 || stored.cols == 0) return;
    const std::size_t width = static_cast<std::size_t>(stored.cols) * size_of(type);
    ld_ = stored.cols;
    throw_if_failed(copy_.allocate(width * static_cast<std::size_t>(stored.rows)));
    data_ = copy_.data();
    if (filled)
      throw_if_failed(executor.copy_in(executor.default_queue(), data_, width, stored.data,
                                       static_cast<std::size_t>(stored.ld) * size_of(type), width,
                                       static_cast<std::size_t>(stored.rows)));
  }
  void* data() const { return data_; }
  Index ld() const { return ld_; }

 private:
  void* data_;
  Index ld_;
  tessera::detail::ExecutorMemory copy_;
};

/// Estimates the seconds of one run, and warms the kernel up. A large product is run on a few rows first, then on more,
/// until a run takes long enough for an estimate, because a kernel may pack all of B before the first row.
Status estimate(Executor& executor, GemmCall call, const char* kernel, double& seconds) {
  const double products = static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k);
  const Index all = call.m;
  if (executor.capabilities().host_memory && products > probe_from)
    call.m = std::max<Index>(1, static_cast<Index>(static_cast<double>(all) * probe_from / products / 8));
  measure::Stopwatch watch(executor);
  const auto multiply = [&] { return executor.gemm(executor.default_queue(), call, kernel); };
  if (Status status = measure::time_growing_rows(watch, call.m, all, probe_seconds, multiply); !status.ok())
    return status;
  if (!executor.capabilities().host_memory) // the first run on a device loads the kernel, or compiles it
    if (Status status = watch.time(multiply); !status.ok()) return status;
  seconds = watch.seconds() * static_cast<double>(all) / static_cast<double>(std::max<Index>(call.m, 1));
  return {};
}

void fail(const Status& status, RaceResult& result) {
  result.verdict = status.code == StatusCode::Rejected ? "rejected" : "failed";
  result.reason = status.why;
}

std::string element(const char* name, Index row, Index col) {
  return std::string(name) + "[" + std::to_string(row) + ", " + std::to_string(col) + "]";
}

} // namespace

Race::Race(PyObject* a, PyObject* b, int threads) : a_(a, "a"), b_(b, "b"), on_a_(a_), on_b_(b_), threads_(threads) {
  if (a_.type != b_.type)
    throw TypeError(std::string("a holds ") + dtype_name(a_.type) + ", b holds " + dtype_name(b_.type) +
                    "; convert one of them");
  if (is_16_bit(a_.type.part) || a_.type.is_complex)
    throw TypeError(std::string("a holds ") + dtype_name(a_.type) +
                    ", but products of float32 and float64 are compared");
  if (a_.on_cuda || b_.on_cuda)
    throw InvalidArgument("a and b must be in host memory to be compared; every backend gets its copies from there");
  if (const std::string why = inner_mismatch(a_.rows, a_.cols, b_.rows, b_.cols); !why.empty())
    throw InvalidArgument(why);
  if (n() > 0 && m() > std::numeric_limits<Index>::max() / 8 / n())
    throw InvalidArgument("a result of " + std::to_string(m()) + "×" + std::to_string(n()) +
                          " elements overflows the address space");
  c_.resize(static_cast<std::size_t>(m() * n() * a_.element()));
}

Race::~Race() = default;

GemmCall Race::host_call(Math math) {
  return {{.type = type(),
           .math = math,
           .op_a = on_a_.op(),
           .op_b = on_b_.op(),
           .m = m(),
           .n = n(),
           .k = k(),
           .a = on_a_.data(),
           .lda = on_a_.ld(),
           .b = on_b_.data(),
           .ldb = on_b_.ld(),
           .c = c_.data(),
           .ldc = std::max<Index>(n(), 1),
           .threads = threads_}};
}

RaceResult Race::run(Backend backend, const std::string& name, Math math, int repeat, double time_limit) {
  Executor& executor = tessera::executor(backend);
  const GemmKernel& kernel = find_kernel(executor, name, type(), math);
  const WithoutGil others_run;
  RaceResult result;
  GemmCall call = host_call(math);
  const Resident a(executor, on_a_.stored(), type(), true);
  const Resident b(executor, on_b_.stored(), type(), true);
  const Resident c(executor, {c_.data(), m(), n(), call.ldc, size_of(type())}, type(), false);
  call.a = a.data();
  call.lda = a.ld();
  call.b = b.data();
  call.ldb = b.ld();
  call.c = c.data();
  call.ldc = c.ld();
  double seconds = 0;
  if (Status status = estimate(executor, call, kernel.name, seconds); !status.ok()) {
    fail(status, result);
    return result;
  }
  if (time_limit > 0 && seconds > time_limit) {
    result.verdict = "skipped";
    result.reason =
        "one run takes about " + detail::general_text(seconds, 6) + " s; raise time_limit, or pass 0 for no limit";
    return result;
  }
  measure::Stopwatch watch(executor);
  const auto multiply = [&](int) { return executor.gemm(executor.default_queue(), call, kernel.name); };
  if (Status status = measure::sample(watch, repeat, result.seconds, multiply); !status.ok()) {
    fail(status, result);
    return result;
  }
  if (c.data() != c_.data() && !c_.empty()) {
    const std::size_t width = static_cast<std::size_t>(n() * a_.element());
    throw_if_failed(executor.copy_out(executor.default_queue(), c_.data(), width, c.data(), width, width,
                                      static_cast<std::size_t>(m())));
  }
  judge(kernel, c_.data(), result);
  return result;
}

void Race::judge(const GemmKernel& kernel, const void* c, RaceResult& result) {
  const Index ldc = std::max<Index>(n(), 1);
  if (!reference_) {
    const double of_a_row = std::max(1.0, static_cast<double>(n()) * static_cast<double>(k()));
    const auto affordable = static_cast<Index>(reference_products / of_a_row);
    reference_ = std::make_unique<GemmReference>(host_call(Math::Strict),
                                                 sample_rows(m(), std::max(least_rows_compared, affordable), seed));
  }
  if (has_contract_of_mode(kernel.summation)) reference_->add_bits(host_call(kernel.math));
  const GemmError& error = result.error.emplace(reference_->compare(c, ldc, Arithmetic::of(kernel)));
  result.verdict = "wrong";
  if (error.misplaced > 0)
    result.reason = std::to_string(error.misplaced) + " elements are NaN or Inf and should not be, or the reverse; " +
                    element("one is c", error.worst_row, error.worst_col);
  else if (!error.within_bound())
    result.reason = "the error of " + element("c", error.worst_row, error.worst_col) + " is " +
                    detail::general_text(error.max_over_bound, 6) + " times its bound";
  else if (has_contract(kernel.summation) && error.differing_bits > 0)
    result.reason = std::to_string(error.differing_bits) + " elements have not the bits of " +
                    (kernel.math == Math::Strict ? "the canonical product" : "the mode's contract");
  else
    result.verdict = "pass";
  if (result.verdict != "pass" || error.rows_compared == error.rows) return;
  if (!freivalds_) freivalds_ = std::make_unique<FreivaldsCheck>(host_call(Math::Strict), seed);
  const FreivaldsResult whole = freivalds_->check(c, ldc, Arithmetic::of(kernel));
  result.reason = "checked " + std::to_string(error.rows_compared) + " of " + std::to_string(error.rows) +
                  " rows, and " + std::to_string(whole.rows_judged) + " by Freivalds";
  if (whole.within_bound()) return;
  result.verdict = "wrong";
  result.reason = "row " + std::to_string(whole.worst_row) + " is " + detail::general_text(whole.max_over_bound, 6) +
                  " times its bound off, by Freivalds";
}

} // namespace tessera::python
