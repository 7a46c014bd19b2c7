#include "linear_algebra.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tessera/interop/executor_memory.hpp>
#include <tessera/linear_algebra/cholesky.hpp>
#include <tessera/linear_algebra/qr.hpp>
#include <tessera/linear_algebra/solve.hpp>

#include "bindings/python/array.hpp"
#include "bindings/python/arrays/device_place.hpp"
#include "bindings/python/device_array.hpp"
#include "bindings/python/errors.hpp"
#include "bindings/python/layout.hpp"
#include "bindings/python/words.hpp"

namespace tessera::python {
namespace {

/// Refuses tasks that read factors element by element in host memory, and refinement of complex numbers.
void expect_done_where_it_is(const Array& a, const std::string& task) {
  if (!a.on_cuda) return;
  if (task.starts_with("condition"))
    throw TypeError(std::string(a.name) + " is " + place_of(a) +
                    ", but condition numbers are estimated in host memory; copy it there first");
  if (a.type.is_complex && task == "refined")
    throw TypeError(std::string(a.name) + " holds " + dtype_name(a.type) + " and is " + place_of(a) +
                    ", where solutions are refined in float64; copy it to the host, or solve it without refine");
}

/// Returns a copy of an array in host memory. A vector, which is shown as one row, is one column.
template <class T>
Matrix<T> matrix_of(const Array& array) {
  auto matrix = Matrix<T>::uninitialized(array.rows, array.cols);
  if (!matrix.empty()) {
    T* const to = matrix.data();
    copy_elements(array, reinterpret_cast<char*>(to), matrix.ld() * array.element(), array.element());
  }
  return array.is_vector ? Matrix<T>(matrix.transposed()) : std::move(matrix);
}

/// Returns a copy of an array on a device, in the device's memory. A vector, which is shown as one row, is one column.
template <class T>
Matrix<T> matrix_on(Executor& executor, const Array& array) {
  const Index element = array.element();
  if (reinterpret_cast<std::uintptr_t>(array.data) % alignof(T) != 0 || array.row_stride % element != 0 ||
      array.col_stride % element != 0)
    throw InvalidArgument(std::string(array.name) + " is " + place_of(array) + " with strides of " + strides_of(array) +
                          " bytes, and its elements are not aligned; make it contiguous there");
  tessera::detail::ExecutorElements from{array.data, array.row_stride / element, array.col_stride / element,
                                         tessera::detail::Complex<T>};
  Index rows = array.rows, cols = array.cols;
  if (array.is_vector) {
    std::swap(rows, cols);
    std::swap(from.row_step, from.col_step);
  }
  auto matrix = Matrix<T>::uninitialized(rows, cols);
  tessera::detail::copy_from_executor(executor, from, matrix.operand());
  return matrix;
}

/// Returns a matrix as a new array, or its only column as a vector.
template <class T>
PyObject* array_of(const Matrix<T>& matrix, bool as_vector) {
  Reference result(empty_numpy(tessera::detail::number_type_of<T>, matrix.rows(), matrix.cols()));
  const Array to(result.get(), "result");
  for (Index i = 0; i < matrix.rows(); ++i)
    std::copy(matrix.row(i).begin(), matrix.row(i).end(), reinterpret_cast<T*>(to.data + i * to.row_stride));
  if (!as_vector) return result.release();
  return checked(
      python_call<&PyObject_CallMethod>(result.get(), "reshape", "n", static_cast<Py_ssize_t>(matrix.rows())));
}

PyObject* list_of(std::span<const Index> numbers) {
  Reference list(checked(PyList_New(static_cast<Py_ssize_t>(numbers.size()))));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), checked(PyLong_FromLongLong(numbers[i])));
  return list.release();
}

/// One call: it checks the arguments, computes where the arrays are, and returns the results there.
class System {
 public:
  System(const SystemArguments& arguments, PyObject* (*wrap)(DeviceArray&&))
      : wrap_(wrap),
        task_(parse_text(arguments.task, "task")),
        a_(arguments.a, "a", Array::Rank::System),
        lower_(parse_flag(arguments.lower, "lower") ? Triangle::Lower : Triangle::Upper),
        diagonal_(parse_flag(arguments.unit_diagonal, "unit_diagonal") ? Diagonal::Unit : Diagonal::Stored),
        options_{.backend = parse_backend(arguments.backend), .threads = parse_threads(arguments.threads)} {
    if (arguments.math != Py_None) options_.math = parse_math(arguments.math);
    expect_solvable(a_);
    expect_done_where_it_is(a_, task_);
    if (a_.on_cuda) {
      executor_ = &executor_of(a_, options_.backend);
      options_.backend = backend_of_cuda_arrays;
      if (arguments.stream != Py_None) stream_ = parse_stream(arguments.stream, "stream");
    } else if (arguments.stream != Py_None) {
      throw InvalidArgument("stream is given, but a is in host memory; it orders work with arrays on a CUDA device");
    }
    if (arguments.b == Py_None) return;
    b_.emplace(arguments.b, "b", Array::Rank::RightSides);
    expect_solvable(*b_);
    if (!(b_->type == a_.type))
      throw TypeError(std::string("a holds ") + dtype_name(a_.type) + " and b holds " + dtype_name(b_->type) +
                      "; both must have one type");
    expect_same_place(a_, *b_);
  }

  PyObject* solve() const {
    const bool is_narrow = a_.type.part == DType::F32;
    if (a_.type.is_complex)
      return is_narrow ? run_where_it_is<std::complex<float>>() : run_where_it_is<std::complex<double>>();
    return is_narrow ? run_where_it_is<float>() : run_where_it_is<double>();
  }

 private:
  template <class T>
  PyObject* run() const {
    const Matrix<T> a = taken<T>(a_);
    if (task_ == "lu") {
      const auto factors = without_gil([&] { return Lu<T>(a, options_); });
      const Reference packed(given(factors.packed(), false)), pivots(list_of(factors.pivots()));
      return checked(PyTuple_Pack(2, packed.get(), pivots.get()));
    }
    if (task_ == "qr") {
      const auto [q, r] = without_gil([&] {
        const Qr<T> factors(a, options_);
        return std::pair(factors.q(), factors.r());
      });
      const Reference orthogonal(given(q, false)), triangle(given(r, false));
      return checked(PyTuple_Pack(2, orthogonal.get(), triangle.get()));
    }
    if (task_ == "r") return given(without_gil([&] { return Qr<T>(a, options_).r(); }), false);
    if (task_ == "condition" || task_ == "condition of positive")
      return checked(PyFloat_FromDouble(without_gil([&] {
        return task_ == "condition" ? Lu<T>(a, options_).condition() : Cholesky<T>(a, lower_, options_).condition();
      })));
    if (task_ == "inverse") return given(without_gil([&] { return inverse_of(a); }), false);
    if (task_ == "cholesky") return given(without_gil([&] { return Cholesky<T>(a, lower_, options_).l(); }), false);
    if (!b_) throw TypeError("b must be an array, not NoneType");
    const Matrix<T> b = taken<T>(*b_);
    const Matrix<T> x = without_gil([&] {
      if (task_ == "triangular") return triangular_solve(lower_, a, b, Side::Left, diagonal_, options_);
      if (task_ == "least squares") return least_squares(a, b, options_);
      if (task_ == "positive") return Cholesky<T>(a, lower_, options_).solve(b);
      SolveOptions options = options_;
      options.refine = task_ == "refined";
      return tessera::solve(a, b, options);
    });
    return given(x, b_->is_vector);
  }

  /// Without a stream the work is done on return, because DLPack has no means by which the arrays' libraries could
  /// learn when the arrays may be used again.
  template <class T>
  PyObject* run_where_it_is() const {
    if (!executor_) return run<T>();
    Queue& queue = executor_->default_queue();
    if (stream_ != nullptr) throw_if_failed(queue.start_after(stream_));
    Reference result(run<T>());
    without_gil([&] { throw_if_failed(stream_ != nullptr ? queue.finish_before(stream_) : queue.synchronize()); });
    return result.release();
  }

  template <class T>
  Matrix<T> taken(const Array& array) const {
    if (executor_) return without_gil([&] { return matrix_on<T>(*executor_, array); });
    return matrix_of<T>(array);
  }
  template <class T>
  Matrix<T> inverse_of(const Matrix<T>& a) const {
    if (!executor_) return inverse(a, options_);
    tessera::detail::check_square("inverse", a.rows(), a.cols());
    return tessera::solve(a, tessera::detail::identity_on<T>(*executor_, a.rows()), options_);
  }
  template <class T>
  PyObject* given(const Matrix<T>& matrix, bool as_vector) const {
    if (!executor_) return array_of(matrix, as_vector);
    DeviceArray result(*executor_, a_.type, matrix.rows(), matrix.cols());
    without_gil([&] {
      tessera::detail::copy_to_executor(matrix.operand(), *executor_, result.data(), std::max<Index>(matrix.cols(), 1),
                                        tessera::detail::Complex<T>);
    });
    return wrap_(std::move(result));
  }

  template <class Step>
  static auto without_gil(const Step& step) {
    const WithoutGil others_run;
    return step();
  }

  PyObject* (*wrap_)(DeviceArray&&);
  std::string task_;
  Array a_;
  std::optional<Array> b_;
  Triangle lower_;
  Diagonal diagonal_;
  SolveOptions options_;
  Executor* executor_ = nullptr; ///< for arrays on a device; null for arrays in host memory
  void* stream_ = nullptr;       ///< the caller's; null: the work is done on return
};

} // namespace

void expect_solvable(const Array& array) {
  if (array.type.part != DType::F32 && array.type.part != DType::F64)
    throw TypeError(std::string(array.name) + " holds " + dtype_name(array.type) +
                    "; linear systems are solved in float32, float64, complex64 and complex128");
}

PyObject* solve_system(const SystemArguments& arguments, PyObject* (*wrap)(DeviceArray&&)) {
  return System(arguments, wrap).solve();
}

} // namespace tessera::python
