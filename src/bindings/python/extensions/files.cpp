#include "files.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <tessera/beyond_memory/file_product.hpp>

#include "bindings/python/errors.hpp"
#include "bindings/python/words.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tessera::python {
namespace {

/// How often the calling thread looks for signals.
constexpr std::chrono::milliseconds between_looks{100};

DType parse_result(std::string_view name) {
  if (const std::optional<Element> type = find_element(name); type && !type->is_complex) return type->part;
  throw TypeError("dtype must be " + element_names("or", false) + ", not " + std::string(name));
}

std::filesystem::path path_of(const nb::bytes& name) { return std::string(name.c_str(), name.size()); }

nb::tuple numbers_of(const FileProductProgress& now) {
  return nb::make_tuple(now.blocks, now.blocks_done, now.operations, now.operations_done, now.bytes_read,
                        now.bytes_written);
}

nb::tuple numbers_of(const FileProductReport& report) {
  const FileProductPlan& plan = report.plan;
  return nb::make_tuple(dtype_name(plan.type), dtype_name(plan.result), plan.m, plan.n, plan.k, plan.block_m,
                        plan.block_n, plan.blocks, plan.blocks_done, plan.planned_bytes, report.allocated_bytes,
                        report.bytes_read, report.bytes_written, report.seconds, report.seconds_reading,
                        report.seconds_writing);
}

/// What the thread that multiplies leaves for the calling thread.
class Course {
 public:
  void note(const FileProductProgress& now) {
    const std::lock_guard lock(mutex_);
    now_ = now;
    is_new_ = true;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_one();
  }
  /// Waits for the end, but not longer than until the next look for signals. Returns whether the product has ended.
  bool wait() {
    const WithoutGil others_run;
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, between_looks, [this] { return ended_; });
  }
  /// Calls `progress`, unless it is None or nothing is new. Returns false with Python's exception set if it raises one.
  bool tell(PyObject* progress) {
    FileProductProgress now;
    {
      const std::lock_guard lock(mutex_);
      if (progress == Py_None || !std::exchange(is_new_, false)) return true;
      now = now_;
    }
    const Reference result(python_call<&PyObject_CallObject>(progress, numbers_of(now).ptr()));
    return static_cast<bool>(result);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  FileProductProgress now_;
  bool is_new_ = false, ended_ = false;
};

/// Multiplies on a thread of its own. The calling thread looks for signals meanwhile, because Python handles them in
/// its main thread alone, and calls `progress`. An exception of a signal's handler or of `progress` stops the product.
FileProductReport multiply_watched(FileProduct& product, PyObject* progress) {
  Course course;
  FileProductReport report;
  std::exception_ptr failure;
  product.progress = [&](const FileProductProgress& now) { course.note(now); };
  const auto multiply = [&](std::stop_token stop) {
    product.stop = std::move(stop);
    try {
      report = gemm_files(product);
    } catch (...) {
      failure = std::current_exception();
    }
    course.end();
  };
  bool raised = false;
  try {
    std::jthread worker(multiply);
    while (!course.wait()) {
      if (raised || (python_call<&PyErr_CheckSignals>() == 0 && course.tell(progress))) continue;
      raised = true;
      worker.request_stop();
    }
  } catch (const std::system_error&) { // the system has no thread: a signal is handled after the product
    const WithoutGil others_run;
    multiply({});
  }
  if (raised || !course.tell(progress)) throw PythonError{};
  if (failure) std::rethrow_exception(failure);
  return report;
}

/// Multiplies, and returns the numbers of the report. `executors` has pairs of a backend and a device, which is None
/// for the backend's own choice.
nb::tuple multiply_files(const nb::bytes& a, const nb::bytes& b, const nb::bytes& out, std::size_t memory_limit,
                         nb::handle transpose_a, nb::handle transpose_b, double alpha, double beta, nb::handle c,
                         nb::handle dtype, const nb::list& executors, nb::handle math, nb::handle kernel,
                         nb::handle threads, nb::handle start_over, nb::handle progress) {
  FileProduct product{.a = path_of(a), .b = path_of(b), .out = path_of(out), .memory_limit = memory_limit};
  if (parse_flag(transpose_a.ptr(), "transpose_a")) product.op_a = Op::Transpose;
  if (parse_flag(transpose_b.ptr(), "transpose_b")) product.op_b = Op::Transpose;
  product.alpha = alpha;
  product.beta = beta;
  if (!c.is_none()) product.c = path_of(nb::cast<nb::bytes>(c));
  if (!dtype.is_none()) product.result = parse_result(parse_text(dtype.ptr(), "dtype"));
  for (const nb::handle pair : executors) {
    const Backend backend = parse_backend(pair[0].ptr());
    if (backend == Backend::Auto)
      throw InvalidArgument("backend 'auto' in a list or with devices; name the backends that are to multiply");
    product.executors.push_back(pair[1].is_none() ? &executor(backend) : &executor(backend, nb::cast<int>(pair[1])));
  }
  product.math = parse_math(math.ptr());
  if (!kernel.is_none()) product.kernel = parse_text(kernel.ptr(), "kernel");
  product.threads = parse_threads(threads.ptr());
  product.start_over = parse_flag(start_over.ptr(), "start_over");
  return numbers_of(multiply_watched(product, progress.ptr()));
}

} // namespace

void bind_files(nb::module_& module) {
  module.def("_multiply_files", multiply_files, "a"_a, "b"_a, "out"_a, "memory_limit"_a, "transpose_a"_a.none(),
             "transpose_b"_a.none(), "alpha"_a, "beta"_a, "c"_a.none(), "dtype"_a.none(), "executors"_a,
             "math"_a.none(), "kernel"_a.none(), "threads"_a.none(), "start_over"_a.none(), "progress"_a.none());
}

} // namespace tessera::python
