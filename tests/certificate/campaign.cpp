/// The campaign behind docs/certificate.md, for people to run: errors of the size that the page promises to find are
/// planted at random places of honest products, and honest products of every kernel of this machine are checked.
///
///     tessera_certificate_campaign --planted 10000 --honest 10000 --largest 8192
///
/// The exit status is 0 if no planted error was missed and no honest product was refused.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <tessera/backend.hpp>
#include <tessera/check.hpp>
#include <tessera/executor.hpp>
#include <tessera/gemm.hpp>
#include <tessera/half.hpp>
#include <tessera/random.hpp>

#ifdef TESSERA_CAMPAIGN_HAS_EIGEN
#include <Eigen/Core>
#endif

namespace tessera::test {
namespace {

/// Random numbers of a counter-based generator.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  /// Returns a whole number in 0 … count − 1.
  Index below(Index count) {
    const PhiloxBlock block = philox4x32(seed_, next_++, 0x43616d70);
    const std::uint64_t bits = static_cast<std::uint64_t>(block.word[0]) << 32 | block.word[1];
    return static_cast<Index>(bits % static_cast<std::uint64_t>(count));
  }
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(below(Index{1} << 40)) * 0x1p-40;
  }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

/// What a part of the campaign counted.
struct Counts {
  Index planted = 0, missed = 0; ///< single elements, each off by more than 2·w_i
  Index pairs = 0, pairs_missed = 0;
  Index honest = 0, refused = 0; ///< products
  Index honest_rows_found = 0;   ///< honest rows beside planted ones that the check found
  void add(const Counts& other) {
    planted += other.planted;
    missed += other.missed;
    pairs += other.pairs;
    pairs_missed += other.pairs_missed;
    honest += other.honest;
    refused += other.refused;
    honest_rows_found += other.honest_rows_found;
  }
};

/// Plants errors in some rows at a time, checks once, and takes them out again. Rows are judged by themselves, so that
/// each planted row is one trial.
template <class T>
class Planting {
 public:
  Planting(Index m, Index n, Index k, std::uint64_t seed)
      : a_(Matrix<T>::random(m, k, Seed{seed})),
        b_(Matrix<T>::random(k, n, Seed{seed + 1})),
        c_(gemm(a_, b_)),
        certifier_({{checked(a_), checked(b_)}}, static_cast<CheckedType>(dtype_of<T>),
                   {.seed = seed, .rows = 2, .vectors = 16}),
        dice_(seed) {}

  Counts run(Index count, Index rows_at_once) {
    Counts counts = honest();
    while (counts.planted < count) plant(std::min(rows_at_once, count - counts.planted), false, counts);
    while (counts.pairs < count / 10) plant(std::min(rows_at_once, count / 10 - counts.pairs), true, counts);
    return counts;
  }

 private:
  Certificate answer() const {
    const CheckedMatrix c = checked(c_);
    return certifier_.check(std::span(&c, 1));
  }

  Counts honest() const {
    Counts counts;
    counts.honest = 1;
    if (const Certificate honest_one = answer(); !honest_one.right()) {
      counts.refused = 1;
      fmt::print("refused: {}", to_text(honest_one));
    }
    return counts;
  }

  /// Moves an element by `bounds` times its row's bound, or by more where T has no number there.
  void move(Index i, Index j, double bounds) {
    const double off = bounds * certifier_.row_bound(0, i);
    const T old = c_(i, j);
    T moved = static_cast<T>(static_cast<double>(old) + off);
    while (std::abs(static_cast<double>(moved) - static_cast<double>(old)) < 2.01 * certifier_.row_bound(0, i) &&
           std::abs(bounds) > 2)
      moved = std::nextafter(moved, static_cast<T>(std::copysign(INFINITY, off)));
    c_(i, j) = moved;
  }

  void plant(Index wanted, bool in_pairs, Counts& counts) {
    std::map<Index, std::vector<std::pair<Index, T>>> old; // by row: columns and their right elements
    const Index n = c_.cols();
    while (static_cast<Index>(old.size()) < std::min(wanted, c_.rows())) {
      const Index i = dice_.below(c_.rows());
      if (old.contains(i)) continue;
      const Index j = dice_.below(n);
      const double sign = dice_.below(2) == 0 ? -1 : 1;
      old[i].emplace_back(j, c_(i, j));
      move(i, j, sign * (in_pairs ? 3 : dice_.between(2.05, 10)));
      if (!in_pairs || n < 2) continue;
      const Index other = (j + 1 + dice_.below(n - 1)) % n;
      old[i].emplace_back(other, c_(i, other));
      move(i, other, sign * 3);
    }
    const Certificate found = answer();
    std::map<Index, double> over;
    for (const RowBeyond& row : found.rows_beyond) over[row.row] = row.over_bound;
    for (const auto& [row, elements] : old) {
      (in_pairs ? counts.pairs : counts.planted) += 1;
      if (over.erase(row) == 0) {
        (in_pairs ? counts.pairs_missed : counts.missed) += 1;
        if (!in_pairs) fmt::print("missed: c({}, {}) of {}×{}×{}\n", row, elements[0].first, c_.rows(), n, a_.cols());
      }
    }
    counts.honest_rows_found += static_cast<Index>(over.size());
    for (const auto& [row, elements] : old)
      for (auto element = elements.rbegin(); element != elements.rend(); ++element)
        c_(row, element->first) = element->second;
  }

  Matrix<T> a_, b_, c_;
  Certifier certifier_;
  Dice dice_;
};

template <class T>
Counts planted(Index size, Index count) {
  Counts counts;
  Planting<T> planting(size, size, size, static_cast<std::uint64_t>(size));
  counts.add(planting.run(count, std::max<Index>(1, size / 4)));
  fmt::print("planted in {0}×{0}×{0} {1}: {2} elements, {3} missed; {4} pairs, {5} missed; {6} honest rows found\n",
             size, to_string(dtype_of<T>), counts.planted, counts.missed, counts.pairs, counts.pairs_missed,
             counts.honest_rows_found);
  std::fflush(stdout);
  return counts;
}

/// A random product: its shape, how it is stored, and its factors.
struct Random {
  Index m, n, k;
  Op op_a, op_b;
  double alpha, beta;
};

Random random_product(Dice& dice, Index largest) {
  const auto size = [&] {
    return static_cast<Index>(std::exp(dice.between(0, std::log(static_cast<double>(largest)))));
  };
  Random x{size(), size(), size(), Op::None, Op::None, 1, 0};
  if (dice.below(4) == 0) x.k = x.k * 4 + 1000; // more than one segment
  if (dice.below(2) == 0) x.op_a = Op::Transpose;
  if (dice.below(2) == 0) x.op_b = Op::Transpose;
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

template <class T>
struct Honest {
  Matrix<T> a, b, before, c;
  Random product;

  Honest(const Random& x, std::uint64_t seed, bool wide)
      : a(random_matrix<T>(x.op_a == Op::None ? x.m : x.k, x.op_a == Op::None ? x.k : x.m, seed, wide)),
        b(random_matrix<T>(x.op_b == Op::None ? x.k : x.n, x.op_b == Op::None ? x.n : x.k, seed + 1, wide)),
        before(Matrix<T>::random(x.m, x.n, Seed{seed + 2})),
        c(before),
        product(x) {}

  GemmCall call(Math math) {
    return {dtype_of<T>, math,   product.op_a, product.op_b, product.m,    product.n, product.k, product.alpha,
            a.data(),    a.ld(), b.data(),     b.ld(),       product.beta, c.data(),  c.ld()};
  }

  Certificate answer(Math math, std::uint64_t seed) const {
    CheckedMatrix left = checked(a), right = checked(b);
    left.op = product.op_a;
    right.op = product.op_b;
    return check({left, right, checked(before)}, checked(c),
                 {.math = math, .alpha = product.alpha, .beta = product.beta, .seed = seed, .rows = 2, .vectors = 16});
  }
};

/// Counts what one library or mode gave.
class Libraries {
 public:
  void count(const std::string& name, const Certificate& answer) {
    Counts& counts = by_name_[name];
    ++counts.honest;
    if (answer.right()) return;
    ++counts.refused;
    fmt::print("refused, of {}: {}", name, to_text(answer));
  }
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
};

/// Runs a random product with each kernel of the executor for this type.
template <class T>
Index every_kernel(Executor& executor, const Random& x, std::uint64_t seed, Libraries& libraries) {
  Index products = 0;
  if (!executor.capabilities().host_memory) return 0;
  for (const GemmKernel& row : executor.gemm_kernels()) {
    if (row.type != dtype_of<T>) continue;
    Honest<T> honest(x, seed, seed % 3 == 0);
    const GemmCall call = honest.call(row.math);
    if (!check_gemm(call).ok() || !executor.gemm(executor.default_queue(), call, row.name).ok()) continue;
    libraries.count(fmt::format("{} {} {} {}", to_string(executor.capabilities().backend), row.name,
                                to_string(row.type), to_string(row.math)),
                    honest.answer(row.math, seed));
    ++products;
  }
  return products;
}

#ifdef TESSERA_CAMPAIGN_HAS_EIGEN
template <class T>
void with_eigen(const Random& x, std::uint64_t seed, Libraries& libraries) {
  using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Map = Eigen::Map<Rows, 0, Eigen::OuterStride<>>;
  Honest<T> honest(x, seed, seed % 3 == 0);
  const auto map = [](Matrix<T>& y) { return Map(y.data(), y.rows(), y.cols(), Eigen::OuterStride<>(y.ld())); };
  const Rows a = x.op_a == Op::None ? Rows(map(honest.a)) : Rows(map(honest.a).transpose());
  const Rows b = x.op_b == Op::None ? Rows(map(honest.b)) : Rows(map(honest.b).transpose());
  map(honest.c) *= static_cast<T>(x.beta);
  map(honest.c).noalias() += static_cast<T>(x.alpha) * (a * b);
  libraries.count(fmt::format("Eigen {}", to_string(dtype_of<T>)), honest.answer(Math::Strict, seed));
}
#endif

Counts honest(Index count, Index largest, std::uint64_t seed) {
  Libraries libraries;
  Dice dice(seed);
  for (Index products = 0; products < count;) {
    const Random x = random_product(dice, largest);
    const std::uint64_t own = seed + static_cast<std::uint64_t>(products) * 7;
    for (const BackendInfo& backend : available_backends()) {
      if (!backend.available) continue;
      Executor& executor = tessera::executor(backend.backend);
      products += every_kernel<float>(executor, x, own, libraries) + every_kernel<double>(executor, x, own, libraries) +
                  every_kernel<f16>(executor, x, own, libraries) + every_kernel<bf16>(executor, x, own, libraries);
    }
#ifdef TESSERA_CAMPAIGN_HAS_EIGEN
    with_eigen<float>(x, own, libraries);
    with_eigen<double>(x, own, libraries);
    products += 2;
#endif
  }
  return libraries.print();
}

} // namespace
} // namespace tessera::test

int main(int argc, char** argv) try {
  using namespace tessera;
  CLI::App app("Plants errors in products and checks honest ones", "tessera_certificate_campaign");
  Index planted = 10000, honest = 10000, least = 512, largest = 8192, honest_largest = 400;
  std::uint64_t seed = 1;
  app.add_option("--planted", planted, "Errors to plant, over all sizes and types");
  app.add_option("--honest", honest, "Honest products to check");
  app.add_option("--least", least, "The least size of products that errors are planted in");
  app.add_option("--largest", largest, "The largest such size; sizes double");
  app.add_option("--honest-largest", honest_largest, "The largest m, n and k of honest products");
  app.add_option("--seed", seed, "Seed of all random numbers");
  CLI11_PARSE(app, argc, argv);
  test::Counts all;
  std::vector<Index> sizes;
  for (Index size = least; size <= largest; size *= 2) sizes.push_back(size);
  const Index each =
      sizes.empty() ? 0 : (planted + 2 * static_cast<Index>(sizes.size()) - 1) / (2 * static_cast<Index>(sizes.size()));
  if (planted > 0)
    for (const Index size : sizes) {
      all.add(test::planted<float>(size, each));
      all.add(test::planted<double>(size, each));
    }
  if (honest > 0) all.add(test::honest(honest, honest_largest, seed));
  fmt::print(
      "all: {} planted elements, {} missed; {} pairs, {} missed; {} honest products, {} refused; {} honest rows "
      "found beside planted ones\n",
      all.planted, all.missed, all.pairs, all.pairs_missed, all.honest, all.refused, all.honest_rows_found);
  return all.missed == 0 && all.refused == 0 && all.honest_rows_found == 0 ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "tessera_certificate_campaign: {}\n", error.what());
  return 2;
}
