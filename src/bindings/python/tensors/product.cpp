#include "product.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <tessera/complex.hpp>
#include <tessera/detail/column_major.hpp>
#include <tessera/gemm_batch.hpp>

#include "bindings/python/device_array.hpp"
#include "bindings/python/distributed.hpp"
#include "bindings/python/layout.hpp"
#include "bindings/python/words.hpp"
#include "queue.hpp"
#include "tensor.hpp"

namespace tessera::python {
namespace {

/// The strict mode computes 16-bit matrices in f32 everywhere, without a GPU's matrix units, which are some ten times
/// as fast. So 16-bit matrices on a GPU use them unless a mode is named.
Math math_of(PyObject* word, const TensorView& a) {
  if (PyTuple_Check(word))
    return parse_math(checked(
        PyTuple_GetItem(word, static_cast<Py_ssize_t>(place_of(a.type()) + (a.on_cuda() ? element_count() : 0)))));
  if (word != Py_None || !a.on_cuda() || a.type().is_complex) return parse_math(word);
  return element_type(a.type().part).lossless_math;
}

Op turned(Op op) { return op == Op::None ? Op::Transpose : Op::None; }

/// One matrix of an operand or of the result, and where the others of its stack are.
struct Side {
  Side(const TensorView& view, const char* name)
      : array(view.matrix(name)), step(view.step()), layout(layout_of(array)) {}
  Array array;
  Index step;
  std::optional<Layout> layout;
};

/// Returns the call of out := alpha·a·b + beta·out, for the first matrix of each stack.
template <class Factor>
ProductCall<Factor> call_of(DType type, Math math, Factor alpha, const Side& a, const Side& b, Factor beta,
                            const Side& out) {
  return {.type = type,
          .math = math,
          .op_a = a.layout->op,
          .op_b = b.layout->op,
          .m = a.array.rows,
          .n = b.array.cols,
          .k = a.array.cols,
          .alpha = alpha,
          .a = a.array.data,
          .lda = a.layout->ld,
          .b = b.array.data,
          .ldb = b.layout->ld,
          .beta = beta,
          .c = out.array.data,
          .ldc = out.layout->ld};
}

/// The product of two tensors whose types and shapes fit.
class Tensors {
 public:
  Tensors(const TensorProduct& arguments, const TensorView& a, const TensorView& b, Element type)
      : arguments_(arguments), view_(a), a_(a, "a"), b_(b, "b"), type_(type), count_(std::max(a.count(), b.count())) {
    math_ = math_of(arguments.math, a);
    alpha_ = arguments.alpha == Py_None ? 1 : parse_complex(arguments.alpha, "alpha", a.type());
    beta_ = arguments.c == Py_None ? 0 : parse_complex(arguments.beta, "beta", a.type());
    activation_ = parse_activation(arguments.activation);
  }

  /// Does a kernel read the operands where they are?
  bool fits() const { return a_.layout && b_.layout; }

  bool take_bias() { return arguments_.bias == Py_None || take_bias(arguments_.bias); }

  /// Adds c as a bias, if it is a vector that is added unscaled, which is one pass less and has the same bits.
  bool takes_c_as_bias(const TensorView& c) {
    if (beta_ != 1.0 || type_.is_complex || c.dimensions() != 1 || !take_bias(arguments_.c)) return false;
    beta_ = 0;
    return true;
  }

  /// Is c one that put_c() puts into the memory of a result with so many elements? PyTorch copies large ones faster,
  /// and knows how to do it on a GPU.
  bool puts_c(const TensorView& c, Index elements) const {
    return beta_ == 0.0 || (!c.on_cuda() && c.type() == type_ && elements <= 4096);
  }

  /// Puts c into the memory of the result. Returns false if the shapes do not fit.
  bool put_c(const TensorView& c, const TensorView& out) {
    if (beta_ == 0.0) return true;
    if (c.dimensions() > out.dimensions()) return false;
    std::int64_t sizes[3] = {1, 1, 1}, strides[3] = {0, 0, 0}, out_strides[3] = {0, 0, 0};
    const int missing = 3 - out.dimensions();
    for (int i = 0; i < out.dimensions(); ++i) {
      const int own = i - (out.dimensions() - c.dimensions());
      sizes[missing + i] = out.size(i);
      out_strides[missing + i] = out.stride(i);
      if (own < 0 || c.size(own) == 1) continue;
      if (c.size(own) != out.size(i)) return false;
      strides[missing + i] = c.stride(own);
    }
    const Index element = static_cast<Index>(type_.bytes());
    for (Index i = 0; i < sizes[0]; ++i) {
      const dlpack::Tensor from{
          static_cast<char*>(c.data()) + i * strides[0] * element, {}, 2, {}, sizes + 1, strides + 1, 0};
      copy_elements(Array(from, type_, "c"), static_cast<char*>(out.data()) + i * out_strides[0] * element,
                    out_strides[1] * element, out_strides[2] * element);
    }
    return true;
  }

  bool multiply_into(const TensorView& view) {
    const Side out(view, "out");
    if (!out.layout) return false;
    if (type_.is_complex) return multiply_complex(out);
    const GemmBatch batch = real(out);
    const bool by_columns = out.layout->op != Op::None;
    detail::run_in_words_of_caller(by_columns, std::span(&batch, 1), [&] { multiply(batch); });
    return true;
  }

 private:
  /// Does a product on the host take longer than to give the GIL away and to take it back?
  bool takes_long() const {
    const double most = 16 * 1024;
    return static_cast<double>(a_.array.rows) * static_cast<double>(b_.array.cols) *
               static_cast<double>(a_.array.cols) * static_cast<double>(count_) >
           most;
  }

  void multiply(const GemmBatch& batch) {
    if (view_.on_cuda())
      return on_device([&](Executor& cuda, Queue& queue) {
        return count_ == 1 ? cuda.gemm(queue, batch.call) : cuda.gemm_batch(queue, {&batch, 1});
      });
    std::optional<WithoutGil> others_run;
    if (takes_long()) others_run.emplace();
    if (count_ == 1)
      detail::gemm_raw(batch.call, {.math = math_});
    else
      detail::gemm_batch_raw({&batch, 1}, {.math = math_});
  }

  bool take_bias(PyObject* object) {
    if (!bias_.read(object) || bias_.dimensions() != 1 || bias_.size(0) != b_.array.cols || bias_.type() != type_ ||
        type_.is_complex || !bias_.same_place(view_) || (bias_.stride(0) < 1 && bias_.size(0) > 1))
      return false;
    epilogue_.bias_per = BiasPer::Column;
    epilogue_.bias = bias_.data();
    epilogue_.bias_step = std::max<Index>(bias_.stride(0), 1);
    return true;
  }

  /// A result that is stored by columns is computed as Cᵀ = Bᵀ·Aᵀ, which has the same bits.
  GemmBatch real(const Side& out) {
    epilogue_.activation = activation_;
    const GemmCall call{call_of(a_.array.type.part, math_, alpha_.real(), a_, b_, beta_.real(), out), type_.part,
                        epilogue_};
    GemmBatch batch{.call = call, .count = count_, .stride_a = a_.step, .stride_b = b_.step, .stride_c = out.step};
    if (out.layout->op == Op::None) return batch;
    std::swap(batch.call.a, batch.call.b);
    std::swap(batch.call.lda, batch.call.ldb);
    std::swap(batch.call.m, batch.call.n);
    std::swap(batch.stride_a, batch.stride_b);
    batch.call.op_a = turned(b_.layout->op);
    batch.call.op_b = turned(a_.layout->op);
    if (epilogue_.bias_per != BiasPer::None) batch.call.epilogue.bias_per = BiasPer::Row;
    return batch;
  }

  /// Swapped operands would change the bits of a complex product, so `out` must be stored by rows.
  bool multiply_complex(const Side& out) {
    if (out.layout->op != Op::None || activation_ != Activation::None) return false;
    const ComplexGemmCall first{call_of(type_.part, math_, alpha_, a_, b_, beta_, out)};
    expect_results_apart(out);
    const auto bytes = static_cast<Index>(type_.bytes());
    const auto of = [&](Index i) {
      ComplexGemmCall call = first;
      call.a = a_.array.data + i * a_.step * bytes;
      call.b = b_.array.data + i * b_.step * bytes;
      call.c = out.array.data + i * out.step * bytes;
      return call;
    };
    if (view_.on_cuda()) {
      on_device([&](Executor& cuda, Queue& queue) {
        Status status;
        for (Index i = 0; i < count_ && status.ok(); ++i) status = tessera::gemm(cuda, queue, of(i));
        return status;
      });
      return true;
    }
    const WithoutGil others_run;
    for (Index i = 0; i < count_; ++i) detail::gemm_raw(of(i), {.math = math_});
    return true;
  }

  /// Real batches are checked by the library; complex products run one by one. A number is two elements side by side.
  void expect_results_apart(const Side& out) const {
    GemmBatch results{.call = {}, .count = count_, .stride_c = 2 * out.step};
    results.call.type = results.call.result = type_.part;
    results.call.m = out.array.rows;
    results.call.n = 2 * out.array.cols;
    results.call.c = out.array.data;
    results.call.ldc = 2 * out.layout->ld;
    results.call.lda = 1;
    results.call.ldb = std::max<Index>(results.call.n, 1);
    if (!check_gemm_batch({&results, 1}).ok())
      throw InvalidArgument("the matrices of out share elements in memory; each product needs a result of its own");
  }

  template <class Work>
  void on_device(const Work& work) {
    Executor& cuda = executor_of(view_);
    void* const stream =
        arguments_.stream == Py_None ? current_stream(view_) : parse_stream(arguments_.stream, "stream");
    auto in_queue = [&](Queue& queue) { return work(cuda, queue); };
    const WithoutGil others_run;
    enqueue_in_stream(cuda, stream, in_queue);
  }

  const TensorProduct& arguments_;
  const TensorView& view_;
  Side a_, b_;
  TensorView bias_;
  Element type_;
  Index count_;
  Math math_ = Math::Strict;
  std::complex<double> alpha_, beta_;
  Activation activation_ = Activation::None;
  Epilogue epilogue_;
};

bool shapes_fit(const TensorView& a, const TensorView& b) {
  return a.has_matrices() && b.has_matrices() && a.type() == b.type() && a.same_place(b) && a.cols() == b.rows() &&
         (a.dimensions() == 2 || b.dimensions() == 2 || a.count() == b.count());
}

Element result_type(PyObject* name, Element operands) {
  return name == Py_None ? operands : parse_element(std::string(parse_text(name, "out_dtype")).c_str());
}

bool is_result(Element result, Element operands) {
  return result == operands || (!result.is_complex && !operands.is_complex && is_result_of(result.part, operands.part));
}

/// The sizes of a result.
struct Shape {
  std::array<Index, TensorView::most> sizes{};
  int dimensions = 0;
};

Shape shape_of_product(const TensorView& a, const TensorView& b) {
  if (a.dimensions() == 2 && b.dimensions() == 2) return {{a.rows(), b.cols()}, 2};
  return {{std::max(a.count(), b.count()), a.rows(), b.cols()}, 3};
}

/// Returns the shape of x with w's columns in place of its own.
Shape shape_of_layer(const TensorView& x, const TensorView& w) {
  Shape shape{{}, x.dimensions()};
  for (int i = 0; i < x.dimensions() - 1; ++i) shape.sizes[static_cast<std::size_t>(i)] = x.size(i);
  shape.sizes[static_cast<std::size_t>(x.dimensions() - 1)] = w.cols();
  return shape;
}

/// Returns how many elements a result has, or a large number if that overflows.
Index elements_of(const Shape& shape) {
  double count = 1;
  for (int i = 0; i < shape.dimensions; ++i) count *= static_cast<double>(shape.sizes[static_cast<std::size_t>(i)]);
  return count < 1e15 ? static_cast<Index>(count) : std::numeric_limits<Index>::max();
}

bool has_shape(const TensorView& out, const Shape& shape) {
  if (out.dimensions() != shape.dimensions) return false;
  for (int i = 0; i < shape.dimensions; ++i)
    if (out.size(i) != shape.sizes[static_cast<std::size_t>(i)]) return false;
  return true;
}

} // namespace

PyObject* tensor_product(const TensorProduct& arguments) {
  TensorView a, b, c, out;
  const bool layer = arguments.b_is_weight;
  if (!a.read(arguments.a, layer ? TensorView::most : 3) || !b.read(arguments.b) || (layer && !b.transpose()))
    Py_RETURN_NONE;
  Shape shape = layer ? shape_of_layer(a, b) : Shape{};
  const bool rows_in_line = layer && a.flatten();
  if (a.dimensions() > 3 || !shapes_fit(a, b)) Py_RETURN_NONE;
  if (!layer) shape = shape_of_product(a, b);
  if (arguments.dimensions != 0 && (a.dimensions() != arguments.dimensions || b.dimensions() != arguments.dimensions))
    Py_RETURN_NONE;
  const Element type = result_type(arguments.type, a.type());
  if (!is_result(type, a.type())) Py_RETURN_NONE;
  const bool complex_factor = PyComplex_Check(arguments.alpha) || PyComplex_Check(arguments.beta);
  if (complex_factor && !a.type().is_complex) Py_RETURN_NONE;
  const bool in_place = arguments.c != Py_None && arguments.c == arguments.out;
  // One large product is faster than many small ones, and has the same bits.
  const bool flat = rows_in_line || (b.dimensions() == 2 && (arguments.c == Py_None || in_place) && a.flatten());
  Tensors product(arguments, a, b, type);
  if (!product.fits() || !product.take_bias()) Py_RETURN_NONE;
  if (arguments.c != Py_None && (!c.read(arguments.c) || c.type() != type || !c.same_place(a))) Py_RETURN_NONE;
  const bool has_c = arguments.c != Py_None && !in_place && !product.takes_c_as_bias(c);
  if (arguments.out != Py_None) {
    if (!out.read(arguments.out) || out.type() != type || !out.same_place(a) || !has_shape(out, shape)) Py_RETURN_NONE;
    if (has_c || (flat && !out.flatten()) || !product.multiply_into(out)) Py_RETURN_NONE;
    return Py_NewRef(arguments.out);
  }
  if (!NewTensor::possible() || (has_c && !product.puts_c(c, elements_of(shape)))) Py_RETURN_NONE;
  NewTensor result(a, type, shape.sizes.data(), shape.dimensions);
  if (has_c && !product.put_c(c, result.view())) Py_RETURN_NONE;
  if ((flat && !result.view().flatten()) || !product.multiply_into(result.view())) Py_RETURN_NONE;
  return result.release();
}

PyObject* grouped_tensor_product(PyObject* a_object, PyObject* b_object, PyObject* ends, PyObject* math,
                                 PyObject* out_object, PyObject* stream) {
  TensorView a, b, out;
  if (!a.read(a_object) || !b.read(b_object) || !out.read(out_object)) Py_RETURN_NONE;
  const bool by_rows = b.dimensions() == 3; // else groups are slices of k
  if (a.type() != b.type() || a.type().is_complex || !is_result(out.type(), a.type()) || a.dimensions() != 2)
    Py_RETURN_NONE;
  const Side left(a, "a"), right(b, "b"), result(out, "out");
  if (!left.layout || !right.layout || !result.layout || result.layout->op != Op::None) Py_RETURN_NONE;
  const Math mode = math_of(math, a);
  const Index element = left.array.element(), result_element = result.array.element();
  const GemmCall whole{call_of(left.array.type.part, mode, 1.0, left, right, 0.0, result), out.type().part};
  std::vector<GemmBatch> groups;
  Index begin = 0;
  if (PyTuple_Check(ends)) { // the numbers' address in the GPU's memory, whether they have 64 bits, and their count
    const auto numbers = reinterpret_cast<const void*>(PyLong_AsSize_t(PyTuple_GetItem(ends, 0)));
    const Py_ssize_t count = PyLong_AsSsize_t(PyTuple_GetItem(ends, 2));
    if (PyErr_Occurred()) throw PythonError{};
    const bool wide = PyTuple_GetItem(ends, 1) == Py_True;
    groups.push_back({.call = whole, .count = count, .stride_b = right.step, .ends = {numbers, wide}});
  }
  for (Py_ssize_t g = 0; PyList_Check(ends) && g < PyList_Size(ends); ++g) {
    const Index end = PyLong_AsLongLong(PyList_GetItem(ends, g));
    if (end == -1 && PyErr_Occurred()) throw PythonError{};
    const Index size = end - begin;
    GemmCall call = whole;
    (by_rows ? call.m : call.k) = size;
    call.a = left.array.data + begin * (by_rows ? left.array.row_stride : left.array.col_stride);
    call.b = right.array.data + (by_rows ? g * right.step * element : begin * right.array.row_stride);
    call.c = result.array.data + (by_rows ? begin * result.array.row_stride : g * result.step * result_element);
    if (call.m > 0) groups.push_back({.call = call});
    begin = end;
  }
  if (a.on_cuda()) {
    Executor& cuda = executor_of(a);
    void* const own = stream == Py_None ? current_stream(a) : parse_stream(stream, "stream");
    auto work = [&](Queue& queue) { return cuda.gemm_batch(queue, groups); };
    const WithoutGil others_run;
    enqueue_in_stream(cuda, own, work);
  } else {
    const WithoutGil others_run;
    detail::gemm_batch_raw(groups, {.math = mode});
  }
  return Py_NewRef(out_object);
}

} // namespace tessera::python
