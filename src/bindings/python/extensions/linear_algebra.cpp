#include "linear_algebra.hpp"

#include <algorithm>
#include <complex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tessera/linear_algebra/cholesky.hpp>
#include <tessera/linear_algebra/qr.hpp>
#include <tessera/linear_algebra/solve.hpp>

#include "bindings/python/array.hpp"
#include "bindings/python/device_array.hpp"
#include "bindings/python/errors.hpp"
#include "bindings/python/layout.hpp"
#include "bindings/python/words.hpp"

namespace tessera::python {
namespace {

void expect_solvable(const Array& array) {
  if (array.on_cuda)
    throw TypeError(std::string(array.name) + " is on CUDA device " + std::to_string(array.device) +
                    "; linear systems are solved in host memory, copy it there first");
  if (array.type.part != DType::F32 && array.type.part != DType::F64)
    throw TypeError(std::string(array.name) + " holds " + dtype_name(array.type) +
                    "; linear systems are solved in float32, float64, complex64 and complex128");
}

template <class T>
Matrix<T> matrix_of(const Array& array) {
  auto matrix = Matrix<T>::uninitialized(array.rows, array.cols);
  if (!matrix.empty()) {
    T* const to = matrix.data();
    copy_elements(array, reinterpret_cast<char*>(to), matrix.ld() * array.element(), array.element());
  }
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

class System {
 public:
  System(const SystemArguments& arguments)
      : task_(parse_text(arguments.task, "task")),
        a_(arguments.a, "a", Array::Rank::System),
        lower_(parse_flag(arguments.lower, "lower") ? Triangle::Lower : Triangle::Upper),
        diagonal_(parse_flag(arguments.unit_diagonal, "unit_diagonal") ? Diagonal::Unit : Diagonal::Stored),
        options_{.backend = parse_backend(arguments.backend), .threads = parse_threads(arguments.threads)} {
    if (arguments.math != Py_None) options_.math = parse_math(arguments.math);
    expect_solvable(a_);
    if (arguments.b == Py_None) return;
    b_.emplace(arguments.b, "b", Array::Rank::RightSides);
    expect_solvable(*b_);
    if (!(b_->type == a_.type))
      throw TypeError(std::string("a holds ") + dtype_name(a_.type) + " and b holds " + dtype_name(b_->type) +
                      "; both must have one type");
    const Reference dimensions(checked(python_call<&PyObject_GetAttrString>(arguments.b, "ndim")));
    is_vector_ = PyLong_AsSsize_t(dimensions.get()) == 1;
    PyErr_Clear();
  }

  PyObject* solve() const {
    const bool is_narrow = a_.type.part == DType::F32;
    if (a_.type.is_complex) return is_narrow ? run<std::complex<float>>() : run<std::complex<double>>();
    return is_narrow ? run<float>() : run<double>();
  }

 private:
  template <class T>
  PyObject* run() const {
    const Matrix<T> a = matrix_of<T>(a_);
    if (task_ == "lu") {
      const auto factors = without_gil([&] { return Lu<T>(a, options_); });
      const Reference packed(array_of(factors.packed(), false)), pivots(list_of(factors.pivots()));
      return checked(PyTuple_Pack(2, packed.get(), pivots.get()));
    }
    if (task_ == "qr") {
      const auto [q, r] = without_gil([&] {
        const Qr<T> factors(a, options_);
        return std::pair(factors.q(), factors.r());
      });
      const Reference orthogonal(array_of(q, false)), triangle(array_of(r, false));
      return checked(PyTuple_Pack(2, orthogonal.get(), triangle.get()));
    }
    if (task_ == "r") return array_of(without_gil([&] { return Qr<T>(a, options_).r(); }), false);
    if (task_ == "condition" || task_ == "condition of positive")
      return checked(PyFloat_FromDouble(without_gil([&] {
        return task_ == "condition" ? Lu<T>(a, options_).condition() : Cholesky<T>(a, lower_, options_).condition();
      })));
    if (task_ == "inverse") return array_of(without_gil([&] { return inverse(a, options_); }), false);
    if (task_ == "cholesky") return array_of(without_gil([&] { return Cholesky<T>(a, lower_, options_).l(); }), false);
    if (!b_) throw TypeError("b must be an array, not NoneType");
    // A vector is one row here, and one column of the system.
    const Matrix<T> given = matrix_of<T>(*b_);
    const Matrix<T> b = is_vector_ ? Matrix<T>(given.transposed()) : Matrix<T>(given.view());
    const Matrix<T> x = without_gil([&] {
      if (task_ == "triangular") return triangular_solve(lower_, a, b, Side::Left, diagonal_, options_);
      if (task_ == "least squares") return least_squares(a, b, options_);
      if (task_ == "positive") return Cholesky<T>(a, lower_, options_).solve(b);
      SolveOptions options = options_;
      options.refine = task_ == "refined";
      return tessera::solve(a, b, options);
    });
    return array_of(x, is_vector_);
  }

  template <class Step>
  static auto without_gil(const Step& step) {
    const WithoutGil others_run;
    return step();
  }

  std::string task_;
  Array a_;
  std::optional<Array> b_;
  bool is_vector_ = false;
  Triangle lower_;
  Diagonal diagonal_;
  SolveOptions options_;
};

} // namespace

PyObject* solve_system(const SystemArguments& arguments) { return System(arguments).solve(); }

} // namespace tessera::python
