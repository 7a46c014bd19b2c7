#include "honest.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <tessera/backend.hpp>
#include <tessera/checking/check.hpp>
#include <tessera/executor.hpp>
#include <tessera/gemm.hpp>
#include <tessera/half.hpp>

#ifdef TESSERA_CAMPAIGN_HAS_EIGEN
#include <Eigen/Core>
#endif

namespace tessera::test {
namespace {

/// A random product: its shape, how it is stored, and its factors.
struct Random {
  Index m, n, k;
  bool transposed_a, transposed_b;
  double alpha, beta;
};

Random random_product(Dice& dice, Index largest) {
  const auto size = [&] {
    return static_cast<Index>(std::exp(dice.between(0, std::log(static_cast<double>(largest)))));
  };
  Random x{size(), size(), size(), false, false, 1, 0};
  if (dice.below(4) == 0) x.k = x.k * 4 + 1000; // more than one segment
  x.transposed_a = dice.below(2) == 0;
  x.transposed_b = dice.below(2) == 0;
  if (dice.below(2) == 0) x.alpha = 0.5 + static_cast<double>(dice.below(8)) / 4;
  if (dice.below(2) == 0) x.beta = -1 + static_cast<double>(dice.below(8)) / 4;
  return x;
}

/// Fills with numbers of one size, or of many.
template <class T>
Matrix<T> random_matrix(Index rows, Index cols, std::uint64_t seed, bool wide) {
  Matrix<T> x = Matrix<T>::random(rows, cols, Seed{seed});
  if (!wide) return x;
  Dice dice(seed);
  for (Index i = 0; i < rows; ++i) {
    const double scale = std::ldexp(1.0, static_cast<int>(dice.below(17)) - 8);
    for (Index j = 0; j < cols; ++j)
      x(i, j) = static_cast<T>(static_cast<double>(static_cast<Scalar<T>>(x(i, j))) * scale);
  }
  return x;
}

/// A product with operands of T and results of R, which any number of kernels compute. The right-hand sides of the
/// checks are computed once for each mode.
template <class T, class R>
class Honest {
 public:
  Honest(const Random& x, std::uint64_t seed)
      : product_(x),
        a_(random_matrix<T>(x.transposed_a ? x.k : x.m, x.transposed_a ? x.m : x.k, seed, seed % 3 == 0)),
        b_(random_matrix<T>(x.transposed_b ? x.n : x.k, x.transposed_b ? x.k : x.n, seed + 1, seed % 3 == 0)),
        before_(Matrix<R>::random(x.m, x.n, Seed{seed + 2})),
        seed_(seed) {}

  const Matrix<T>& a() const { return a_; }
  const Matrix<T>& b() const { return b_; }
  const Matrix<R>& before() const { return before_; }

  /// Multiplies with one kernel of a ladder. The library brings the operands to the executor's memory, and C back.
  Matrix<R> multiply(const GemmOptions& options) const {
    Matrix<R> c = before_;
    const MatrixView<const T> a = product_.transposed_a ? a_.transposed() : a_.view();
    const MatrixView<const T> b = product_.transposed_b ? b_.transposed() : b_.view();
    gemm(static_cast<Scalar<T>>(product_.alpha), a, b, static_cast<Scalar<T>>(product_.beta), c, options);
    return c;
  }

  Certificate check(const Matrix<R>& c, Math math) {
    auto certifier = certifiers_.find(math);
    if (certifier == certifiers_.end()) {
      CheckedMatrix a = checked(a_), b = checked(b_);
      if (product_.transposed_a) a.op = Op::Transpose;
      if (product_.transposed_b) b.op = Op::Transpose;
      const CheckOptions options{
          .math = math, .alpha = product_.alpha, .beta = product_.beta, .seed = seed_, .rows = 2, .vectors = 16};
      Certifier made({{a, b, checked(before_)}}, static_cast<CheckedType>(dtype_of<R>), options);
      certifier = certifiers_.emplace(math, std::move(made)).first;
    }
    const CheckedMatrix result = checked(c);
    return certifier->second.check(std::span(&result, 1));
  }

 private:
  Random product_;
  Matrix<T> a_, b_;
  Matrix<R> before_;
  std::uint64_t seed_;
  std::map<Math, Certifier> certifiers_;
};

/// Counts what each library or mode gave.
class Libraries {
 public:
  void count(const std::string& name, const Certificate& answer) {
    Counts& counts = by_name_[name];
    ++counts.honest;
    ++products_;
    if (answer.right()) return;
    ++counts.refused;
    fmt::print("refused, of {}: {}", name, to_text(answer));
  }
  Index products() const { return products_; }
  Counts print() const {
    Counts all;
    for (const auto& [name, counts] : by_name_) {
      fmt::print("honest, {}: {} products, {} refused\n", name, counts.honest, counts.refused);
      all.add(counts);
    }
    return all;
  }

 private:
  std::map<std::string, Counts> by_name_;
  Index products_ = 0;
};

/// Runs a product with each kernel of the backend's ladder for these operands.
template <class T, class R>
void with_each_kernel(Backend backend, const Random& x, std::uint64_t seed, Libraries& libraries) {
  Honest<T, R> honest(x, seed);
  for (const GemmKernel& kernel : executor(backend).gemm_kernels()) {
    if (kernel.type != dtype_of<T>) continue;
    try {
      const Matrix<R> c = honest.multiply({.backend = backend, .math = kernel.math, .kernel = kernel.name});
      std::string name =
          fmt::format("{} {} {} {}", to_string(backend), kernel.name, to_string(kernel.type), to_string(kernel.math));
      if (dtype_of<R> != dtype_of<T>) name += fmt::format(" to {}", to_string(dtype_of<R>));
      libraries.count(name, honest.check(c, kernel.math));
    } catch (const KernelRejected&) { // a kernel need not take every product
    }
  }
}

/// Half of the products have results of their operands' type, the others one of the other types.
template <class T>
void with_each_kernel(Backend backend, const Random& x, std::uint64_t seed, Libraries& libraries) {
  std::vector<DType> others;
  for (const ElementType& result : element_types)
    if (result.type != dtype_of<T> && is_result_of(result.type, dtype_of<T>)) others.push_back(result.type);
  Dice dice(seed + 3);
  const bool own = others.empty() || dice.below(2) == 0;
  const DType chosen =
      own ? dtype_of<T> : others[static_cast<std::size_t>(dice.below(static_cast<Index>(others.size())))];
  visit(chosen, [&]<class R>(std::type_identity<R>) {
    if constexpr (ResultOf<R, T>) with_each_kernel<T, R>(backend, x, seed, libraries);
  });
}

#ifdef TESSERA_CAMPAIGN_HAS_EIGEN
template <class T>
void with_eigen(const Random& x, std::uint64_t seed, Libraries& libraries) {
  using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Honest<T, T> honest(x, seed);
  const auto map = [](const Matrix<T>& y) {
    return Eigen::Map<const Rows, 0, Eigen::OuterStride<>>(y.data(), y.rows(), y.cols(), Eigen::OuterStride<>(y.ld()));
  };
  const Rows a = x.transposed_a ? Rows(map(honest.a()).transpose()) : Rows(map(honest.a()));
  const Rows b = x.transposed_b ? Rows(map(honest.b()).transpose()) : Rows(map(honest.b()));
  Matrix<T> c = honest.before();
  Eigen::Map<Rows, 0, Eigen::OuterStride<>> result(c.data(), c.rows(), c.cols(), Eigen::OuterStride<>(c.ld()));
  result *= static_cast<T>(x.beta);
  result.noalias() += static_cast<T>(x.alpha) * (a * b);
  libraries.count(fmt::format("Eigen {}", to_string(dtype_of<T>)), honest.check(c, Math::Strict));
}
#endif

std::vector<Backend> backends(std::optional<Backend> named) {
  if (named) return {*named};
  std::vector<Backend> all;
  for (const BackendInfo& backend : available_backends())
    if (backend.available) all.push_back(backend.backend);
  return all;
}

} // namespace

Counts check_honest(std::optional<Backend> backend, Index count, Index largest, std::uint64_t seed) {
  Libraries libraries;
  Dice dice(seed);
  const std::vector<Backend> all = backends(backend);
  while (libraries.products() < count) {
    const Random x = random_product(dice, largest);
    const std::uint64_t own = seed + static_cast<std::uint64_t>(libraries.products()) * 7;
    for (const Backend one : all)
      for (const ElementType& type : element_types)
        visit(type.type, [&]<class T>(std::type_identity<T>) { with_each_kernel<T>(one, x, own, libraries); });
#ifdef TESSERA_CAMPAIGN_HAS_EIGEN
    if (!backend) {
      with_eigen<float>(x, own, libraries);
      with_eigen<double>(x, own, libraries);
    }
#endif
  }
  return libraries.print();
}

} // namespace tessera::test
