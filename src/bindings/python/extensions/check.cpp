#include "check.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <tessera/backend.hpp>
#include <tessera/checking/check_solve.hpp>
#include <tessera/executor.hpp>

#include "bindings/python/array.hpp"
#include "bindings/python/arrays/buffer.hpp"
#include "bindings/python/arrays/element.hpp"
#include "bindings/python/errors.hpp"
#include "bindings/python/layout.hpp"
#include "bindings/python/words.hpp"

namespace tessera::python {
namespace {

/// Elements in host memory that a check reads, and what keeps them there.
class Elements {
 public:
  Elements(PyObject* object, const char* name, CheckedType type, bool is_complex = false) : name_(name) {
    matrix_.type = type;
    matrix_.is_complex = is_complex;
    if (PyObject_CheckBuffer(object) != 0)
      take_buffer(object);
    else
      take_array(object);
  }
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;
  const CheckedMatrix& matrix() const { return matrix_; }

 private:
  void take_buffer(PyObject* object) {
    if (!buffer_.take(object, name_)) throw PythonError{};
    const auto bytes = static_cast<Py_ssize_t>(checked_type(matrix_.type).bytes) * (matrix_.is_complex ? 2 : 1);
    if (buffer_.dimensions() != 2 || buffer_.element() != bytes)
      throw InvalidArgument(std::string(name_) + " has " + std::to_string(buffer_.dimensions()) +
                            " dimensions of elements of " + std::to_string(buffer_.element()) +
                            " bytes, but a matrix of " + std::to_string(bytes) + "-byte elements is needed");
    set_layout(buffer_.data(), buffer_.sizes()[0], buffer_.sizes()[1], buffer_.strides()[0], buffer_.strides()[1],
               bytes);
  }

  void set_layout(void* data, Index rows, Index cols, Index row_stride, Index col_stride, Index bytes) {
    const bool empty = rows == 0 || cols == 0;
    matrix_.data = data;
    if (empty || ((cols == 1 || col_stride == bytes) &&
                  (rows == 1 || (row_stride >= cols * bytes && row_stride % bytes == 0)))) {
      matrix_.rows = rows;
      matrix_.cols = cols;
      matrix_.ld = empty || rows == 1 ? std::max<Index>(cols, 1) : row_stride / bytes;
    } else if ((rows == 1 || row_stride == bytes) &&
               (cols == 1 || (col_stride >= rows * bytes && col_stride % bytes == 0))) {
      matrix_.rows = cols;
      matrix_.cols = rows;
      matrix_.ld = cols == 1 ? std::max<Index>(rows, 1) : col_stride / bytes;
      matrix_.op = Op::Transpose;
    } else {
      throw InvalidArgument(std::string(name_) + " has strides of " + std::to_string(row_stride) + " and " +
                            std::to_string(col_stride) + " bytes; its rows or columns must be contiguous");
    }
  }

  /// Takes an array of another library by DLPack.
  void take_array(PyObject* object) {
    array_.emplace(object, name_);
    if (array_->type.is_complex != matrix_.is_complex || static_cast<CheckedType>(array_->type.part) != matrix_.type)
      throw TypeError(std::string(name_) + " holds " + dtype_name(array_->type) + ", not " +
                      (matrix_.is_complex ? "complex numbers of " : "") +
                      std::string(checked_type(matrix_.type).array_name));
    if (!array_->on_cuda)
      return set_layout(array_->data, array_->rows, array_->cols, array_->row_stride, array_->col_stride,
                        array_->element());
    const Operand operand(*array_);
    const StoredRows stored = operand.stored();
    const std::size_t width = static_cast<std::size_t>(stored.cols) * stored.element;
    copy_.resize(width * static_cast<std::size_t>(stored.rows));
    if (!copy_.empty()) {
      // Other threads of Python run, and other streams of the device go on, while this one stream copies.
      const WithoutGil others_run;
      Executor& cuda = executor(backend_of_cuda_arrays);
      throw_if_failed(cuda.copy_out(cuda.default_queue(), copy_.data(), width, stored.data,
                                    static_cast<std::size_t>(stored.ld) * stored.element, width,
                                    static_cast<std::size_t>(stored.rows)));
    }
    matrix_.data = copy_.data();
    matrix_.rows = stored.rows;
    matrix_.cols = stored.cols;
    matrix_.ld = std::max<Index>(stored.cols, 1);
    matrix_.op = operand.op();
  }

  const char* name_;
  CheckedMatrix matrix_;
  Buffer buffer_;
  std::optional<Array> array_;
  std::vector<char> copy_;
};

/// Reads a whole number of at most this size.
long long whole_number(PyObject* number, const char* name, long long largest) {
  bool fits = false;
  const long long value = parse_whole_number(number, name, "a whole number", fits);
  if (!fits || value > largest || value < -largest) {
    const Reference text(checked(python_call<&PyObject_Str>(number)));
    throw InvalidArgument(std::string(name) + " = " + std::string(parse_text(text.get(), name)) +
                          " is too large; pass at most " + std::to_string(largest));
  }
  return value;
}

double real_number(PyObject* number, const char* name) {
  const double value = python_call<&PyFloat_AsDouble>(number);
  if (value == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    throw TypeError(std::string(name) + " must be a real number, not " + type_name(number));
  }
  return value;
}

/// The operands and results of all products.
class Products {
 public:
  Products(PyObject* products, const CheckedType (&types)[3]) {
    const Reference all(checked(python_call<&PySequence_Fast>(products, "products must be a sequence")));
    const Py_ssize_t count = python_call<&PySequence_Size>(all.get());
    for (Py_ssize_t p = 0; p < count; ++p) {
      const Reference item(checked(python_call<&PySequence_GetItem>(all.get(), p)));
      if (!PyTuple_Check(item.get()) || PyTuple_Size(item.get()) != 6)
        throw TypeError("each product must be a tuple of six matrices");
      const auto matrix = [&](Py_ssize_t place, const char* name, CheckedType type) {
        return elements_.emplace_back(PyTuple_GetItem(item.get(), place), name, type).matrix();
      };
      const auto optional = [&](Py_ssize_t place, const char* name) {
        return PyTuple_GetItem(item.get(), place) == Py_None ? std::optional<CheckedMatrix>()
                                                             : matrix(place, name, types[2]);
      };
      operands.push_back({matrix(0, "a", types[0]), matrix(1, "b", types[1]), optional(3, "c_before"),
                          optional(4, "bias"), optional(5, "residual")});
      results.push_back(matrix(2, "c", types[2]));
    }
  }
  std::vector<CheckedProduct> operands;
  std::vector<CheckedMatrix> results;

 private:
  std::deque<Elements> elements_;
};

/// Calls take(word) with the name of a type.
template <class Take>
auto with_type_at(PyObject* types, Py_ssize_t place, const Take& take) {
  const Reference word(checked(python_call<&PySequence_GetItem>(types, place)));
  return take(parse_text(word.get(), "type"));
}
CheckedType type_at(PyObject* types, Py_ssize_t place) {
  return with_type_at(types, place, [](std::string_view word) { return parse_checked_type(word); });
}

/// An operand of a system, which may be complex.
struct SystemType {
  CheckedType part;
  bool is_complex;

  static SystemType at(PyObject* types, Py_ssize_t place) {
    return with_type_at(types, place, [](std::string_view word) {
      const std::optional<Element> type = find_element(word);
      return type && type->is_complex ? SystemType{static_cast<CheckedType>(type->part), true}
                                      : SystemType{parse_checked_type(word), false};
    });
  }
};

Nearness parse_nearness(PyObject* word) {
  const std::string_view name = parse_text(word, "nearness");
  if (name == "elements") return Nearness::Elements;
  if (name == "norm") return Nearness::Norm;
  throw InvalidArgument("nearness: unknown word '" + std::string(name) + "'; use 'elements' or 'norm'");
}

/// Returns answer() as a pair of its JSON and its text, while other threads of Python run.
template <class Answer>
PyObject* json_and_text(const Answer& answer) {
  std::string json, text;
  {
    const WithoutGil others_run;
    const auto certificate = answer();
    json = to_json(certificate, -1);
    text = to_text(certificate);
  }
  const auto unicode = [](const std::string& x) {
    return Reference(checked(PyUnicode_FromStringAndSize(x.data(), static_cast<Py_ssize_t>(x.size()))));
  };
  return checked(PyTuple_Pack(2, unicode(json).get(), unicode(text).get()));
}

} // namespace

PyObject* check(const CheckArguments& arguments) {
  CheckedType types[3];
  for (Py_ssize_t x = 0; x < 3; ++x) types[x] = type_at(arguments.types, x);
  const Products products(arguments.products, types);
  const CheckOptions options{
      .math = parse_math(arguments.math),
      .alpha = real_number(arguments.alpha, "alpha"),
      .beta = real_number(arguments.beta, "beta"),
      .activation = parse_activation(arguments.activation),
      .seed = static_cast<std::uint64_t>(whole_number(arguments.seed, "seed", std::numeric_limits<long long>::max())),
      .rows = whole_number(arguments.rows, "rows", std::numeric_limits<long long>::max()),
      .vectors = static_cast<int>(whole_number(arguments.vectors, "vectors", 1 << 16)),
      .threads = parse_threads(arguments.threads)};
  return json_and_text([&] { return check_batch(products.operands, products.results, options); });
}

PyObject* check_solution(const SolutionArguments& arguments) {
  const auto elements = [&](PyObject* object, const char* name, Py_ssize_t place) {
    const SystemType type = SystemType::at(arguments.types, place);
    return Elements(object, name, type.part, type.is_complex);
  };
  const Elements a = elements(arguments.a, "a", 0), x = elements(arguments.x, "x", 1),
                 b = elements(arguments.b, "b", 2);
  const SolveCheckOptions options{.nearness = parse_nearness(arguments.nearness),
                                  .limit = real_number(arguments.limit, "limit"),
                                  .threads = parse_threads(arguments.threads)};
  return json_and_text([&] { return check_solve(a.matrix(), x.matrix(), b.matrix(), options); });
}

} // namespace tessera::python
