#include "gemm.hpp"

#include <algorithm>
#include <complex>
#include <functional>
#include <limits>
#include <optional>

#include <tessera/complex.hpp>

#include "array.hpp"
#include "arrays/device_place.hpp"
#include "core/gemm/check_gemm.hpp"
#include "errors.hpp"
#include "layer.hpp"
#include "layout.hpp"
#include "words.hpp"

namespace tessera::python {
namespace {

using python::shape; // the overload for sizes
std::string shape(const Array& array) { return shape(array.rows, array.cols); }

void check_same_type(const Array& a, const Array& b) {
  if (a.type != b.type)
    throw TypeError(std::string("a holds ") + dtype_name(a.type) + ", b holds " + dtype_name(b.type) +
                    "; convert one of them, for nothing is converted unasked");
}

void check_result_type(const Array& a, const Array& c) {
  if (c.type.is_complex != a.type.is_complex || !is_result_of(c.type.part, a.type.part) ||
      (a.type.is_complex && c.type != a.type))
    throw TypeError(
        std::string("a holds ") + dtype_name(a.type) + ", " + c.name + " holds " + dtype_name(c.type) +
        "; a result has the operands' type, or float32 if that is float16 or bfloat16, or one of these if that is "
        "float32");
}

void check_inner(const Array& a, const Array& b) {
  if (const std::string why = inner_mismatch(a.rows, a.cols, b.rows, b.cols); !why.empty()) throw InvalidArgument(why);
  const Index largest = std::numeric_limits<Index>::max() / a.element();
  if (b.cols > 0 && a.rows > largest / b.cols)
    throw InvalidArgument("a is " + shape(a) + " and b is " + shape(b) + "; a result of " + shape(a.rows, b.cols) +
                          " elements overflows the address space");
}

/// The argument c or out.
void check_result(const Array& a, const Array& b, const Array& c) {
  check_result_type(a, c);
  expect_same_place(a, c);
  if (c.rows != a.rows || c.cols != b.cols)
    throw InvalidArgument(std::string(c.name) + " is " + shape(c) + ", but the product of a (" + shape(a) +
                          ") and b (" + shape(b) + ") is " + shape(a.rows, b.cols));
}

Layout layout_of_out(const Array& out) {
  out.expect_writable();
  if (const auto layout = layout_of(out)) return *layout;
  throw InvalidArgument("out has strides of " + strides_of(out) + " bytes for elements of " +
                        std::to_string(out.element()) +
                        "; its rows or its columns must be contiguous and aligned, for out is never copied");
}

StoredRows stored(const Array& c, const Layout& layout) {
  const bool flipped = layout.op == Op::Transpose;
  return {c.data, flipped ? c.cols : c.rows, flipped ? c.rows : c.cols, layout.ld, c.type.bytes()};
}

void check_apart(const Operand& operand, const Array& array, const Array& out, const Layout& layout) {
  if (overlap(operand.stored(), stored(out, layout)))
    throw InvalidArgument("out overlaps " + std::string(array.name) + " in memory (out is " + shape(out) + ", " +
                          array.name + " is " + shape(array) + "); the product needs a separate result");
}

/// The operand a or b of a product whose result is stored by rows or by columns. For columns a real product is
/// Cᵀ = Bᵀ·Aᵀ, which needs no copy of C.
class Factor {
 public:
  Factor(const Array& array, bool conjugated, bool by_columns)
      : copies_((conjugated && !is_turned(layout_of(array), by_columns)) ? Operand::Numbers::Conjugated
                                                                         : Operand::Numbers::AsTheyAre),
        operand_(array, copies_) {
    const bool turned = (operand_.op() == Op::Transpose) != by_columns;
    const bool still = conjugated && copies_ == Operand::Numbers::AsTheyAre;
    op_ = !turned ? Op::None : still ? Op::ConjugateTranspose : Op::Transpose;
  }
  const Operand& operand() const { return operand_; }
  Op op() const { return op_; }

 private:
  /// Copies the array by rows if no layout fits it.
  static bool is_turned(const std::optional<Layout>& layout, bool by_columns) {
    return (layout && layout->op == Op::Transpose) != by_columns;
  }

  Operand::Numbers copies_;
  Operand operand_;
  Op op_ = Op::None;
};

/// One call of tessera.gemm: it checks all arguments, computes the product and returns the result.
class ArrayProduct {
 public:
  ArrayProduct(const GemmArguments& arguments, PyObject* (*wrap)(DeviceArray&&))
      : arguments_(arguments),
        wrap_(wrap),
        a_(arguments.a, "a"),
        b_(arguments.b, "b"),
        layer_(arguments.bias, arguments.activation, arguments.residual) {
    check_same_type(a_, b_);
    expect_same_place(a_, b_);
    check_inner(a_, b_);
    options_.backend = parse_backend(arguments.backend);
    options_.math = parse_math(arguments.math);
    if (arguments.kernel != Py_None) options_.kernel = parse_text(arguments.kernel, "kernel");
    options_.threads = parse_threads(arguments.threads);
    if (arguments.verify != Py_None) options_.verify = parse_verify(parse_text(arguments.verify, "verify"));
    if (a_.on_cuda && options_.verify != Verify::None)
      throw InvalidArgument("verify = '" + std::string(to_string(options_.verify)) +
                            "', but a is on a CUDA device, where products cannot verify themselves yet; check() the "
                            "result");
    alpha_ = parse_complex(arguments.alpha, "alpha", a_.type);
    beta_ = parse_complex(arguments.beta, "beta", a_.type);
    conj_a_ = parse_flag(arguments.conj_a, "conj_a") && a_.type.is_complex;
    conj_b_ = parse_flag(arguments.conj_b, "conj_b") && b_.type.is_complex;
    if (a_.on_cuda) executor_ = &executor_of(a_, options_.backend);
    if (!a_.on_cuda && arguments.stream != Py_None)
      throw InvalidArgument("stream is given, but a is in host memory; it orders products of arrays on a CUDA device");
    if (arguments.c != Py_None && arguments.out != Py_None)
      throw TypeError("c and out are both given; with beta ≠ 0 out is read as c, and otherwise c is not read");
    if (beta_ != 0.0 && arguments.c == Py_None && arguments.out == Py_None) {
      const Reference text(checked(python_call<&PyObject_Str>(arguments.beta)));
      throw InvalidArgument("beta = " + std::string(parse_text(text.get(), "beta")) +
                            " needs a matrix: pass c, or out, whose old elements are then read");
    }
  }

  PyObject* run() {
    if (arguments_.out != Py_None) return into_out();
    std::optional<Array> c;
    if (arguments_.c != Py_None) check_result(a_, b_, c.emplace(arguments_.c, "c"));
    // NumPy has no bfloat16, so products of bfloat16 in host memory have results in float32.
    const bool widened = !is_of_numpy(a_.type) && executor_ == nullptr;
    const Element result = c ? c->type : widened ? Element(scalar_of(a_.type.part)) : a_.type;
    if (beta_ == 0.0) c.reset();
    return executor_ ? on_device(c, result) : on_host(c, result);
  }

 private:
  PyObject* into_out() {
    const Array out(arguments_.out, "out");
    check_result(a_, b_, out);
    const Layout layout = layout_of_out(out);
    if (depends_on_order(out, layout)) {
      into_columns(out, layout);
      return Py_NewRef(arguments_.out);
    }
    const Factor a = factor_a(layout), b = factor_b(layout);
    check_apart(a.operand(), a_, out, layout);
    check_apart(b.operand(), b_, out, layout);
    multiply(a, b, out.data, out.type, layout);
    return Py_NewRef(arguments_.out);
  }

  /// Is the result one that Cᵀ = Bᵀ·Aᵀ would give other bits? complex.hpp adds an imaginary part's products in the
  /// order of A's parts, which that product takes in the order of B's.
  static bool depends_on_order(const Array& out, const Layout& layout) {
    return out.type.is_complex && layout.op == Op::Transpose;
  }

  /// Computes a complex result by rows in memory of its own and copies it to `out`, which is stored by columns: in any
  /// layout a result has the same bits.
  void into_columns(const Array& out, const Layout& layout) {
    const Layout by_rows{Op::None, std::max<Index>(out.cols, 1)};
    const Factor a = factor_a(by_rows), b = factor_b(by_rows);
    check_apart(a.operand(), a_, out, layout);
    check_apart(b.operand(), b_, out, layout);
    if (executor_) return into_columns_on_device(a, b, out, layout);
    const Reference memory(empty_numpy(out.type, out.rows, out.cols));
    const Array result(memory.get(), "result");
    if (beta_ != 0.0) copy_elements(out, result.data, result.row_stride, result.col_stride);
    multiply(a, b, result.data, out.type, by_rows);
    copy_elements(result, out.data, out.row_stride, out.col_stride);
  }

  void into_columns_on_device(const Factor& a, const Factor& b, const Array& out, const Layout& layout) {
    const DeviceArray result(*executor_, out.type, out.rows, out.cols);
    if (beta_ != 0.0) copy_on_device(out, result);
    multiply(a, b, result.data(), out.type, {Op::None, std::max<Index>(out.cols, 1)},
             [&](Queue& queue) { return copy_to_columns(queue, result, out, layout); });
  }

  Status copy_to_columns(Queue& queue, const DeviceArray& from, const Array& out, const Layout& layout) {
    MapCall copy;
    copy.op = MapOp::CopyComplex;
    copy.op_x = Op::Transpose;
    copy.type = out.type.part;
    copy.rows = out.cols;
    copy.cols = out.rows;
    copy.x = from.data();
    copy.ldx = std::max<Index>(out.cols, 1);
    copy.z = out.data;
    copy.ldz = layout.ld;
    return out.rows > 0 && out.cols > 0 ? executor_->map(queue, copy) : Status{};
  }

  Factor factor_a(const Layout& c) const { return {a_, conj_a_, c.op == Op::Transpose}; }
  Factor factor_b(const Layout& c) const { return {b_, conj_b_, c.op == Op::Transpose}; }

  PyObject* on_host(const std::optional<Array>& c, Element type) {
    Reference result(empty_numpy(type, a_.rows, b_.cols));
    const Array out(result.get(), "result");
    if (c) copy_elements(*c, out.data, out.row_stride, out.col_stride);
    const Layout by_rows{Op::None, std::max<Index>(out.cols, 1)};
    multiply(factor_a(by_rows), factor_b(by_rows), out.data, type, by_rows);
    return result.release();
  }

  PyObject* on_device(const std::optional<Array>& c, Element type) {
    const Layout by_rows{Op::None, std::max<Index>(b_.cols, 1)};
    const Factor a = factor_a(by_rows), b = factor_b(by_rows);
    DeviceArray result(*executor_, type, a_.rows, b_.cols);
    if (c) copy_on_device(*c, result);
    multiply(a, b, result.data(), type, by_rows);
    return wrap_(std::move(result));
  }

  void copy_on_device(const Array& c, const DeviceArray& result) {
    const Operand from(c);
    MapCall copy;
    copy.op = c.type.is_complex ? MapOp::CopyComplex : from.op() == Op::Transpose ? MapOp::Transpose : MapOp::Scale;
    copy.op_x = from.op();
    copy.type = c.type.part;
    copy.rows = c.rows;
    copy.cols = c.cols;
    copy.x = from.data();
    copy.ldx = from.ld();
    copy.z = result.data();
    copy.ldz = std::max<Index>(c.cols, 1);
    if (c.rows > 0 && c.cols > 0) throw_if_failed(executor_->map(executor_->default_queue(), copy));
  }

  /// Work that follows a product in its queue.
  using After = std::function<Status(Queue&)>;

  void multiply(const Factor& a, const Factor& b, void* c, Element type, const Layout& layout,
                const After& after = {}) {
    const bool by_columns = layout.op == Op::Transpose;
    const Factor& first = by_columns ? b : a;
    const Factor& second = by_columns ? a : b;
    const Index m = by_columns ? b_.cols : a_.rows, n = by_columns ? a_.rows : b_.cols;
    const Epilogue epilogue = layer_.of(a_, type, a_.rows, b_.cols, layout);
    const Operand &left = first.operand(), &right = second.operand();
    const auto call = [&]<class Scale>(Scale alpha, Scale beta) -> ProductCall<Scale> {
      return {.type = a_.type.part,
              .math = options_.math,
              .op_a = first.op(),
              .op_b = second.op(),
              .m = m,
              .n = n,
              .k = a_.cols,
              .alpha = alpha,
              .a = left.data(),
              .lda = left.ld(),
              .b = right.data(),
              .ldb = right.ld(),
              .beta = beta,
              .c = c,
              .ldc = layout.ld,
              .threads = options_.threads};
    };
    if (type.is_complex) return run(ComplexGemmCall{call(alpha_, beta_)}, after);
    run(GemmCall{call(alpha_.real(), beta_.real()), type.part, epilogue}, after);
  }

  template <class Call>
  void run(const Call& call, const After& after) {
    if (executor_) return run_on_device(call, after);
    const WithoutGil others_run;
    detail::gemm_raw(call, options_);
  }

  Status enqueue(Queue& queue, const GemmCall& call) { return executor_->gemm(queue, call, options_.kernel); }
  Status enqueue(Queue& queue, const ComplexGemmCall& call) {
    return tessera::gemm(*executor_, queue, call, options_.kernel);
  }

  /// Multiplies arrays on a device. Without a stream the product is done on return, because DLPack has no means by
  /// which the arrays' libraries could learn when the arrays may be used again.
  template <class Call>
  void run_on_device(const Call& call, const After& after) {
    Queue& queue = executor_->default_queue();
    void* stream = arguments_.stream == Py_None ? nullptr : parse_stream(arguments_.stream, "stream");
    const WithoutGil others_run;
    if (stream) throw_if_failed(queue.start_after(stream));
    throw_if_failed(enqueue(queue, call));
    if (after) throw_if_failed(after(queue));
    throw_if_failed(stream ? queue.finish_before(stream) : queue.synchronize());
  }

  const GemmArguments& arguments_;
  PyObject* (*wrap_)(DeviceArray&&);
  Array a_, b_;
  Layer layer_;
  GemmOptions options_;
  std::complex<double> alpha_ = 1, beta_ = 0;
  bool conj_a_ = false, conj_b_ = false;
  Executor* executor_ = nullptr; ///< for operands on a device; null for operands in host memory
};

} // namespace

PyObject* gemm(const GemmArguments& arguments, PyObject* (*wrap)(DeviceArray&&)) {
  return ArrayProduct(arguments, wrap).run();
}

} // namespace tessera::python
