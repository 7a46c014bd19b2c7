#include "gemm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include <tessera/backend.hpp>

#include "array.hpp"
#include "errors.hpp"
#include "layer.hpp"
#include "layout.hpp"

namespace tessera::python {
namespace {

using python::shape; // of sizes
std::string shape(const Array& array) { return shape(array.rows, array.cols); }

std::string place(const Array& array) {
  return array.on_cuda ? "on CUDA device " + std::to_string(array.device) : "in host memory";
}

void check_same_type(const Array& a, const Array& b) {
  if (a.type != b.type)
    throw TypeError(std::string("a holds ") + dtype_name(a.type) + ", b holds " + dtype_name(b.type) +
                    "; convert one of them, for nothing is converted unasked");
}

void check_result_type(const Array& a, const Array& c) {
  if (!is_result_of(c.type, a.type))
    throw TypeError(
        std::string("a holds ") + dtype_name(a.type) + ", " + c.name + " holds " + dtype_name(c.type) +
        "; a result has the operands' type, or float32 if that is float16 or bfloat16, or one of these if that is "
        "float32");
}

void check_same_place(const Array& x, const Array& y) {
  if (x.on_cuda != y.on_cuda || x.device != y.device)
    throw InvalidArgument(std::string(x.name) + " is " + place(x) + ", " + y.name + " " + place(y) +
                          "; bring them to one place, for nothing is moved unasked");
}

void check_inner(const Array& a, const Array& b) {
  if (a.cols != b.rows)
    throw InvalidArgument("a is " + shape(a) + " and b is " + shape(b) +
                          "; the columns of a must be as many as the rows of b, but " + std::to_string(a.cols) + " ≠ " +
                          std::to_string(b.rows));
  const Index largest = std::numeric_limits<Index>::max() / a.element();
  if (b.cols > 0 && a.rows > largest / b.cols)
    throw InvalidArgument("a is " + shape(a) + " and b is " + shape(b) + "; a result of " + shape(a.rows, b.cols) +
                          " elements overflows the address space");
}

/// c or out.
void check_result(const Array& a, const Array& b, const Array& c) {
  check_result_type(a, c);
  check_same_place(a, c);
  if (c.rows != a.rows || c.cols != b.cols)
    throw InvalidArgument(std::string(c.name) + " is " + shape(c) + ", but the product of a (" + shape(a) +
                          ") and b (" + shape(b) + ") is " + shape(a.rows, b.cols));
}

Layout layout_of_out(const Array& out) {
  if (out.read_only) throw InvalidArgument("out is read-only; pass an array that may be written");
  if (const auto layout = layout_of(out)) return *layout;
  throw InvalidArgument("out has strides of " + strides_of(out) + " bytes for elements of " +
                        std::to_string(out.element()) +
                        "; its rows or its columns must be contiguous and aligned, for out is never copied");
}

StoredRows stored(const Array& c, const Layout& layout) {
  const bool flipped = layout.op == Op::Transpose;
  return {c.data, flipped ? c.cols : c.rows, flipped ? c.rows : c.cols, layout.ld, size_of(c.type)};
}

void check_apart(const Operand& operand, const Array& array, const Array& out, const Layout& layout) {
  if (overlap(operand.stored(), stored(out, layout)))
    throw InvalidArgument("out overlaps " + std::string(array.name) + " in memory (out is " + shape(out) + ", " +
                          array.name + " is " + shape(array) + "); the product needs a separate result");
}

Op flipped(Op op) { return op == Op::None ? Op::Transpose : Op::None; }

/// One product, looked at from all sides.
class Product {
 public:
  Product(const GemmArguments& arguments, PyObject* (*wrap)(DeviceArray&&))
      : arguments_(arguments),
        wrap_(wrap),
        a_(arguments.a, "a"),
        b_(arguments.b, "b"),
        layer_(arguments.bias, arguments.activation, arguments.residual) {
    check_same_type(a_, b_);
    check_same_place(a_, b_);
    check_inner(a_, b_);
    options_.backend = parse_backend(arguments.backend);
    options_.math = parse_math(arguments.math);
    if (arguments.kernel != Py_None) options_.kernel = parse_text(arguments.kernel, "kernel");
    options_.threads = parse_threads(arguments.threads);
    alpha_ = parse_number(arguments.alpha, "alpha", a_.type);
    beta_ = parse_number(arguments.beta, "beta", a_.type);
    if (a_.on_cuda) executor_ = &device_executor();
    if (!a_.on_cuda && arguments.stream != Py_None)
      throw InvalidArgument("stream is given, but a is in host memory; it orders products of arrays on a CUDA device");
    if (arguments.c != Py_None && arguments.out != Py_None)
      throw TypeError("c and out are both given; with beta ≠ 0 out is read as c, and otherwise c is not read");
    if (beta_ != 0 && arguments.c == Py_None && arguments.out == Py_None)
      throw InvalidArgument("beta = " + std::to_string(beta_) +
                            " needs a matrix: pass c, or out, whose old elements are then read");
  }

  PyObject* run() {
    if (arguments_.out != Py_None) return into_out();
    std::optional<Array> c;
    if (arguments_.c != Py_None) check_result(a_, b_, c.emplace(arguments_.c, "c"));
    // NumPy has no bfloat16, so that on the host its products stay in float32.
    const bool widened = a_.type == DType::BF16 && executor_ == nullptr;
    const DType result = c ? c->type : widened ? DType::F32 : a_.type;
    if (beta_ == 0) c.reset();
    return executor_ ? on_device(c, result) : on_host(c, result);
  }

 private:
  PyObject* into_out() {
    const Array out(arguments_.out, "out");
    check_result(a_, b_, out);
    const Layout layout = layout_of_out(out);
    const Operand a(a_), b(b_);
    check_apart(a, a_, out, layout);
    check_apart(b, b_, out, layout);
    multiply(a, b, out.data, out.type, layout);
    return Py_NewRef(arguments_.out);
  }

  PyObject* on_host(const std::optional<Array>& c, DType type) {
    Reference result(empty_numpy(type, a_.rows, b_.cols));
    const Array out(result.get(), "result");
    if (c) copy_elements(*c, out.data, out.row_stride, out.col_stride);
    multiply(Operand(a_), Operand(b_), out.data, type, {Op::None, std::max<Index>(out.cols, 1)});
    return result.release();
  }

  PyObject* on_device(const std::optional<Array>& c, DType type) {
    const Operand a(a_), b(b_);
    DeviceArray result(*executor_, type, a_.rows, b_.cols);
    if (c) copy_on_device(*c, result);
    multiply(a, b, result.data(), type, {Op::None, std::max<Index>(result.cols(), 1)});
    return wrap_(std::move(result));
  }

  void copy_on_device(const Array& c, const DeviceArray& result) {
    const Operand from(c);
    MapCall copy;
    copy.op = from.op() == Op::Transpose ? MapOp::Transpose : MapOp::Scale;
    copy.type = c.type;
    copy.rows = c.rows;
    copy.cols = c.cols;
    copy.x = from.data();
    copy.ldx = from.ld();
    copy.z = result.data();
    copy.ldz = std::max<Index>(c.cols, 1);
    if (c.rows > 0 && c.cols > 0) throw_if_failed(executor_->map(executor_->default_queue(), copy));
  }

  /// Cᵀ = Bᵀ·Aᵀ has the same bits, so that a result by columns needs no copy.
  void multiply(const Operand& a, const Operand& b, void* c, DType type, const Layout& layout) {
    const bool by_columns = layout.op == Op::Transpose;
    const Operand& first = by_columns ? b : a;
    const Operand& second = by_columns ? a : b;
    const GemmCall call{a_.type,
                        options_.math,
                        by_columns ? flipped(first.op()) : first.op(),
                        by_columns ? flipped(second.op()) : second.op(),
                        by_columns ? b_.cols : a_.rows,
                        by_columns ? a_.rows : b_.cols,
                        a_.cols,
                        alpha_,
                        first.data(),
                        first.ld(),
                        second.data(),
                        second.ld(),
                        beta_,
                        c,
                        layout.ld,
                        options_.threads,
                        type,
                        layer_.of(a_, type, a_.rows, b_.cols, layout)};
    if (executor_) return multiply_on_device(call);
    const WithoutGil others_run;
    detail::gemm_raw(call, options_);
  }

  /// Without a stream the product is done when this returns: the protocol has no word by which the owners of the arrays
  /// would learn when they may use them again.
  void multiply_on_device(const GemmCall& call) {
    Queue& queue = executor_->default_queue();
    void* stream = arguments_.stream == Py_None ? nullptr : parse_stream(arguments_.stream, "stream");
    const WithoutGil others_run;
    if (stream) throw_if_failed(queue.start_after(stream));
    throw_if_failed(executor_->gemm(queue, call, options_.kernel));
    throw_if_failed(stream ? queue.finish_before(stream) : queue.synchronize());
  }

  Executor& device_executor() {
    if (options_.backend != Backend::Auto && options_.backend != Backend::Cuda)
      throw InvalidArgument("a is " + place(a_) + ", but backend " + std::string(to_string(options_.backend)) +
                            " computes in host memory; copy it there, or take backend 'cuda'");
    Executor& cuda = executor(Backend::Cuda);
    if (cuda.capabilities().device_index != a_.device)
      throw InvalidArgument("a is " + place(a_) + ", but Tessera uses CUDA device " +
                            std::to_string(cuda.capabilities().device_index) +
                            "; copy it there, or start with TESSERA_CUDA_DEVICE=" + std::to_string(a_.device));
    return cuda;
  }

  const GemmArguments& arguments_;
  PyObject* (*wrap_)(DeviceArray&&);
  Array a_, b_;
  Layer layer_;
  GemmOptions options_;
  double alpha_ = 1, beta_ = 0;
  Executor* executor_ = nullptr; ///< of operands on a device; null for those in host memory
};

} // namespace

std::string_view parse_text(PyObject* word, const char* name) {
  Py_ssize_t length = 0;
  const char* text = PyUnicode_Check(word) ? PyUnicode_AsUTF8AndSize(word, &length) : nullptr;
  if (text != nullptr) return {text, static_cast<std::size_t>(length)};
  if (PyErr_Occurred()) throw PythonError{};
  throw TypeError(std::string(name) + " must be a str or None, not " + type_name(word));
}

double parse_number(PyObject* number, const char* name, DType type) {
  const double value = PyFloat_AsDouble(number);
  if (value == -1.0 && PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw PythonError{}; // an int beyond float64: OverflowError
    PyErr_Clear();
    throw TypeError(std::string(name) + " must be a real number, not " + type_name(number));
  }
  if (scalar_of(type) == DType::F64) return value;
  const double rounded = static_cast<float>(value);
  if (std::isinf(rounded) && !std::isinf(value))
    throw InvalidArgument(std::string(name) + " = " + std::to_string(value) +
                          " is beyond float32, the type of a and b");
  return rounded;
}

std::string shape(Index rows, Index cols) { return std::to_string(rows) + "×" + std::to_string(cols); }

PyObject* gemm(const GemmArguments& arguments, PyObject* (*wrap)(DeviceArray&&)) {
  return Product(arguments, wrap).run();
}

Backend parse_backend(PyObject* word) {
  return word == Py_None ? Backend::Auto : tessera::parse_backend(parse_text(word, "backend"));
}

Math parse_math(PyObject* word) {
  return word == Py_None ? Math::Strict : tessera::parse_math(parse_text(word, "math"));
}

int parse_threads(PyObject* number) {
  if (number == Py_None) return 0;
  if (!PyLong_Check(number)) throw TypeError("threads must be an int or None, not " + type_name(number));
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow != 0 || value < 1 || value > std::numeric_limits<int>::max()) {
    const Reference text(checked(PyObject_Str(number)));
    throw InvalidArgument("threads = " + std::string(parse_text(text.get(), "threads")) +
                          " is no number of threads; pass 1 or more, or None for the default");
  }
  return static_cast<int>(value);
}

} // namespace tessera::python
