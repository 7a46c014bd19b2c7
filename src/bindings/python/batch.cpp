#include "batch.hpp"

#include <algorithm>
#include <deque>
#include <tuple>
#include <utility>
#include <vector>

#include <tessera/gemm_batch.hpp>

#include "core/batch/pointer_groups.hpp"
#include "core/batch/results_apart.hpp"
#include "core/gemm/check_gemm.hpp"
#include "device_array.hpp"
#include "errors.hpp"
#include "layout.hpp"
#include "matrices.hpp"
#include "words.hpp"

namespace tessera::python {
namespace {

std::string shown(const Array& x) { return std::to_string(x.rows) + "×" + std::to_string(x.cols); }
std::string product_name(Index i) { return "product " + std::to_string(i) + ": "; }

/// The addresses of the operands of all products.
class Operands {
 public:
  explicit Operands(const Matrices& x) : x_(x) {
    const Index count = x.shared() || x.even() ? 1 : x.count();
    for (Index i = 0; i < count && x.count() > 0; ++i) copies_.emplace_back(x.at(i));
  }
  const Operand& of(Index i) const { return copies_[static_cast<std::size_t>(x_.shared() || x_.even() ? 0 : i)]; }
  const void* data(Index i) const { return static_cast<const char*>(of(i).data()) + (x_.even() ? i * x_.step() : 0); }

 private:
  const Matrices& x_;
  std::deque<Operand> copies_;
};

class Batch {
 public:
  explicit Batch(const BatchArguments& arguments) : arguments_(arguments), a_(arguments.a, "a"), b_(arguments.b, "b") {
    if (!a_.shared() && !b_.shared() && a_.count() != b_.count())
      throw InvalidArgument("a has " + std::to_string(a_.count()) + " matrices, b has " + std::to_string(b_.count()) +
                            "; as many are needed, or one matrix for all");
    count_ = a_.shared() ? b_.count() : a_.count();
    options_.backend = parse_backend(arguments.backend);
    options_.math = parse_math(arguments.math);
    if (arguments.kernel != Py_None) options_.kernel = parse_text(arguments.kernel, "kernel");
    options_.threads = parse_threads(arguments.threads);
    if (arguments.verify != Py_None) options_.verify = parse_verify(parse_text(arguments.verify, "verify"));
    if (has_shape()) {
      type_ = a_.at(0).type.part;
      alpha_ = parse_number(arguments.alpha, "alpha", type_);
      beta_ = parse_number(arguments.beta, "beta", type_);
    }
    for (Index i = 0; i < shapes(); ++i) check(i);
    if (beta_ != 0 && arguments.out == Py_None)
      throw InvalidArgument("beta = " + std::to_string(beta_) + " needs out, whose old elements are then read");
  }

  PyObject* run() {
    const bool stacked = (a_.stacked() || a_.shared()) && (b_.stacked() || b_.shared());
    Reference result(arguments_.out != Py_None ? Py_NewRef(arguments_.out) : stacked ? new_stack() : new_list());
    const Matrices out(result.get(), "out");
    if (arguments_.out != Py_None) out.expect_own_matrices();
    if (out.shared() || out.count() != count_)
      throw InvalidArgument("out has " + std::to_string(out.shared() ? 1 : out.count()) + " matrices, but there are " +
                            std::to_string(count_) + " products");
    multiply(out);
    return result.release();
  }

 private:
  bool has_shape() const { return a_.has_shape() && b_.has_shape(); }
  /// Returns the number of products whose shapes are known: all, or one if the batch is a stack without matrices.
  Index shapes() const { return has_shape() ? std::max<Index>(count_, 1) : 0; }

  void check(Index i) const {
    const Array &a = a_.at(i), &b = b_.at(i);
    if (a.type != type_ || b.type != type_)
      throw TypeError(product_name(i) + "a holds " + dtype_name(a.type) + ", b holds " + dtype_name(b.type) +
                      "; all operands of a batch are of one type, here " + dtype_name(type_));
    if (const std::string why = inner_mismatch(a.rows, a.cols, b.rows, b.cols); !why.empty())
      throw InvalidArgument(product_name(i) + why);
  }

  DType result_type() const { return is_of_numpy(type_) ? type_ : scalar_of(type_); } // NumPy has no bfloat16

  PyObject* new_stack() const {
    const Index rows = has_shape() ? a_.at(0).rows : 0, cols = has_shape() ? b_.at(0).cols : 0;
    const Reference flat(empty_numpy(result_type(), count_ * rows, cols));
    return checked(python_call<&PyObject_CallMethod>(flat.get(), "reshape", "nnn", static_cast<Py_ssize_t>(count_),
                                                     static_cast<Py_ssize_t>(rows), static_cast<Py_ssize_t>(cols)));
  }
  PyObject* new_list() const {
    Reference list(checked(PyList_New(count_)));
    for (Index i = 0; i < count_; ++i)
      PyList_SetItem(list.get(), i, checked(empty_numpy(result_type(), a_.at(i).rows, b_.at(i).cols)));
    return list.release();
  }

  void check_out(const Array& out, Index i) const {
    const Array &a = a_.at(i), &b = b_.at(i);
    if (!is_result_of(out.type.part, type_))
      throw TypeError(product_name(i) + "a holds " + dtype_name(type_) + ", out holds " + dtype_name(out.type) +
                      "; a result has the operands' type, or float32 if that is float16 or bfloat16");
    if (out.rows != a.rows || out.cols != b.cols)
      throw InvalidArgument(product_name(i) + "out is " + shown(out) + ", but the product of a (" + shown(a) +
                            ") and b (" + shown(b) + ") is " + std::to_string(a.rows) + "×" + std::to_string(b.cols));
    out.expect_writable();
    if (!layout_of(out))
      throw InvalidArgument("out has strides of " + strides_of(out) + " bytes for elements of " +
                            std::to_string(out.element()) +
                            "; its rows or its columns must be contiguous and aligned, for out is never copied");
  }

  /// Computes Cᵀ = Bᵀ·Aᵀ if the results are stored by columns, so that they need no copy. The bits do not change.
  GemmCall call(const Operand& a, const Operand& b, const Array& out, Index i) const {
    const Layout layout = *layout_of(out);
    const auto flip = [](Op op) { return op == Op::None ? Op::Transpose : Op::None; };
    const Index k = a_.at(i).cols;
    GemmCall one{{.type = type_,
                  .math = options_.math,
                  .op_a = a.op(),
                  .op_b = b.op(),
                  .m = out.rows,
                  .n = out.cols,
                  .k = k,
                  .alpha = alpha_,
                  .lda = a.ld(),
                  .ldb = b.ld(),
                  .beta = beta_,
                  .ldc = layout.ld,
                  .threads = options_.threads},
                 out.type.part};
    if (layout.op == Op::None) return one;
    one.op_a = flip(b.op());
    one.op_b = flip(a.op());
    std::swap(one.m, one.n);
    std::swap(one.lda, one.ldb);
    return one;
  }

  void multiply(const Matrices& out) {
    if (out.has_shape())
      for (Index i = 0; i < shapes(); ++i) check_out(out.at(i), i);
    const Operands a(a_), b(b_);
    const bool given = arguments_.out != Py_None;
    const Matrices::Range results = given ? out.range() : Matrices::Range{};
    if (results.meets(a_.range()) || results.meets(b_.range())) expect_apart(out, a, b);
    detail::PointerGroups products;
    for (Index i = 0; i < count_; ++i) {
      const Array& c = out.at(i);
      const bool by_columns = layout_of(c)->op == Op::Transpose;
      products.add(call(a.of(i), b.of(i), c, i), by_columns ? b.data(i) : a.data(i), by_columns ? a.data(i) : b.data(i),
                   data_of(out, i));
    }
    const std::vector<GemmBatch> batches = products.batches();
    try {
      const WithoutGil others_run;
      detail::gemm_batch_raw(batches, options_);
    } catch (const InvalidArgument&) {
      if (given) expect_apart(out, a, b); // in the caller's words
      throw;
    }
  }

  static char* data_of(const Matrices& x, Index i) { return x.at(i).data + (x.even() ? i * x.step() : 0); }

  /// Throws InvalidArgument if a result shares elements with another one or with an operand of any product. The library
  /// looks at results, too, but names groups, which the caller does not know, and looks at a product's own operands
  /// alone.
  void expect_apart(const Matrices& out, const Operands& a, const Operands& b) const {
    std::vector<detail::WrittenRows> rows;
    rows.reserve(static_cast<std::size_t>(count_));
    const auto add = [&](const StoredRows& x, const void* data, std::size_t kind, Index i) {
      if (x.rows == 0 || x.cols == 0) return;
      rows.push_back({.begin = reinterpret_cast<std::uintptr_t>(data),
                      .width = static_cast<std::uintptr_t>(x.cols) * x.element,
                      .pitch = static_cast<std::uintptr_t>(x.ld) * x.element,
                      .rows = static_cast<std::uintptr_t>(x.rows),
                      .product = 3 * static_cast<std::size_t>(i) + kind,
                      .only_read = kind > 0});
    };
    for (Index i = 0; i < count_; ++i) {
      const Array& c = out.at(i);
      const Layout layout = *layout_of(c);
      const bool turned = layout.op == Op::Transpose;
      add({nullptr, turned ? c.cols : c.rows, turned ? c.rows : c.cols, layout.ld, c.type.bytes()}, data_of(out, i), 0,
          i);
    }
    const Matrices::Range all = out.range();
    for (const auto& [operands, matrices, kind] : {std::tuple{&a, &a_, 1}, std::tuple{&b, &b_, 2}})
      if (all.meets(matrices->range()))
        for (Index i = 0; i < (matrices->shared() ? std::min<Index>(count_, 1) : count_); ++i)
          add(operands->of(i).stored(), operands->data(i), static_cast<std::size_t>(kind), i);
    const auto shared = detail::find_shared_result(rows);
    if (!shared) return;
    const auto named = [&](std::size_t product) {
      const std::size_t kind = product % 3;
      const bool one = (kind == 1 && a_.shared()) || (kind == 2 && b_.shared());
      return std::string(kind == 0   ? "out"
                         : kind == 1 ? "a"
                                     : "b") +
             (one ? "" : "[" + std::to_string(product / 3) + "]");
    };
    auto [x, y] = *shared;
    if (x % 3 == 0 && y % 3 == 0)
      throw InvalidArgument(named(std::min(x, y)) + " and " + named(std::max(x, y)) +
                            " share elements in memory; each product needs a result of its own");
    if (x % 3 != 0) std::swap(x, y); // x is the result
    throw InvalidArgument(named(x) + " overlaps " + named(y) + " in memory; the products need separate results");
  }

  const BatchArguments& arguments_;
  Matrices a_, b_;
  Index count_ = 0;
  DType type_ = DType::F32;
  GemmOptions options_;
  double alpha_ = 1, beta_ = 0;
};

} // namespace

PyObject* gemm_batch(const BatchArguments& arguments) { return Batch(arguments).run(); }

} // namespace tessera::python
