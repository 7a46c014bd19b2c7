#include "system_batch.hpp"

#include <algorithm>
#include <complex>
#include <optional>
#include <string>
#include <vector>

#include <tessera/linear_algebra/batch.hpp>

#include "bindings/python/arrays/buffer.hpp"
#include "bindings/python/arrays/element.hpp"
#include "bindings/python/errors.hpp"
#include "bindings/python/words.hpp"

namespace tessera::python {
namespace {

/// The matrices of an array: its last two dimensions, for each index of the others.
class Stack {
 public:
  Stack(PyObject* object, const char* name) : name_(name) {
    if (!buffer_.take(object, name)) throw PythonError{};
    if (!parse_format(buffer_.format(), type_))
      throw TypeError(std::string(name) + " holds elements of format '" + buffer_.format() + "'");
    const int batch = buffer_.dimensions() - 2;
    if (batch < 0) throw InvalidArgument(std::string(name) + " has fewer than 2 dimensions");
    shape_.assign(buffer_.sizes(), buffer_.sizes() + batch);
    rows_ = buffer_.sizes()[batch];
    cols_ = buffer_.sizes()[batch + 1];
    const Py_ssize_t row_stride = buffer_.strides()[batch];
    ld_ = rows_ > 1 && cols_ > 0 ? row_stride / buffer_.element() : std::max<Index>(cols_, 1);
    find_all();
  }

  Element type() const { return type_; }
  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index count() const { return static_cast<Index>(all_.size()); }
  const std::vector<Py_ssize_t>& shape() const { return shape_; }
  /// Returns the matrices at strides, where they have one distance.
  std::optional<detail::BatchMatrices> strided() const {
    const auto element = static_cast<std::ptrdiff_t>(type_.bytes());
    std::ptrdiff_t step = all_.size() > 1 ? all_[1] - all_[0] : 0;
    for (std::size_t i = 2; i < all_.size(); ++i)
      if (all_[i] - all_[i - 1] != step) return std::nullopt;
    if (step % element != 0) return std::nullopt;
    return detail::BatchMatrices{.name = name_,
                                 .first = all_.empty() ? nullptr : all_[0],
                                 .ld = ld_,
                                 .stride = static_cast<Index>(step / element)};
  }
  detail::BatchMatrices pointers() const {
    return {.name = name_, .all = reinterpret_cast<const void* const*>(all_.data()), .has_pointers = true, .ld = ld_};
  }

 private:
  /// Finds the addresses in C order of the indices.
  void find_all() {
    const Py_ssize_t* const strides = buffer_.strides();
    Index count = 1;
    for (const Py_ssize_t size : shape_) count *= size;
    all_.reserve(static_cast<std::size_t>(count));
    std::vector<Py_ssize_t> index(shape_.size(), 0);
    char* place = static_cast<char*>(buffer_.data());
    for (Index i = 0; i < count; ++i) {
      all_.push_back(place);
      for (std::size_t d = shape_.size(); d-- > 0;) {
        place += strides[d];
        if (++index[d] < shape_[d]) break;
        place -= strides[d] * shape_[d];
        index[d] = 0;
      }
    }
  }

  const char* name_;
  Buffer buffer_;
  Element type_ = DType::F32;
  std::vector<Py_ssize_t> shape_;
  Index rows_ = 0, cols_ = 0, ld_ = 1;
  std::vector<char*> all_;
};

/// Returns "[1, 2]" for a number in C order.
std::string index_text(std::vector<Py_ssize_t> shape, Index number) {
  std::string text;
  for (std::size_t d = shape.size(); d-- > 0; number /= std::max<Py_ssize_t>(shape[d], 1))
    text = std::to_string(number % std::max<Py_ssize_t>(shape[d], 1)) + (text.empty() ? "" : ", ") + text;
  return "[" + text + "]";
}

} // namespace

void expect_all_done(const std::string& function, bool is_positive, const std::vector<Index>& info,
                     const std::vector<Py_ssize_t>& shape) {
  const auto failed = [](Index one) { return one != 0; };
  const auto first = std::find_if(info.begin(), info.end(), failed);
  if (first == info.end()) return;
  const auto others = std::count_if(first + 1, info.end(), failed);
  throw InvalidArgument(
      function + ": the matrix a" + index_text(shape, first - info.begin()) +
      (is_positive
           ? " is not positive definite: its leading minor of order " + std::to_string(*first) + " is not"
           : " is singular: pivot " + std::to_string(*first - 1) + " of its factorisation, counted from 0, is 0") +
      (others > 0 ? "; so it is with " + std::to_string(others) + " others" : std::string()));
}

void solve_system_batch(const SystemBatchArguments& arguments) {
  const std::string task(parse_text(arguments.task, "task"));
  const SolveOptions options{.backend = parse_backend(arguments.backend), .threads = parse_threads(arguments.threads)};
  const Stack x(arguments.x, "x");
  std::optional<Stack> a;
  if (arguments.a != Py_None) a.emplace(arguments.a, "a");
  Buffer pivots;
  if (arguments.pivots != Py_None && !pivots.take(arguments.pivots, "pivots")) throw PythonError{};
  detail::SystemBatch call{.type = x.type(),
                           .m = x.rows(),
                           .n = task == "lu" ? x.cols() : x.rows(),
                           .columns = x.cols(),
                           .count = x.count(),
                           .triangle = parse_flag(arguments.lower, "lower") ? Triangle::Lower : Triangle::Upper};
  std::vector<Index> info(static_cast<std::size_t>(call.count));
  call.info = info.data();
  if (arguments.pivots != Py_None) call.pivots = static_cast<const Index*>(pivots.data());
  const bool in_place = !a.has_value();
  (in_place ? call.a : call.b) = x.pointers();
  if (!in_place) call.a = a->pointers();
  const auto steps_x = x.strided(), steps_a = in_place ? steps_x : a->strided();
  if (steps_x && steps_a) {
    call.a = *steps_a;
    if (!in_place) call.b = *steps_x;
  }
  {
    const WithoutGil others_run;
    if (task == "solve")
      detail::solve_batch(call, options);
    else if (task == "positive")
      detail::solve_positive_batch(call, options);
    else if (task == "inverse")
      detail::inverse_batch(call, options);
    else if (task == "cholesky")
      detail::cholesky_batch(call, options);
    else
      detail::lu_batch(call, options);
  }
  const bool is_positive = task == "positive" || task == "cholesky";
  if (task != "lu") expect_all_done(task == "positive" ? "solve" : task, is_positive, info, x.shape());
}

} // namespace tessera::python
