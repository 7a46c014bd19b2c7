#include "planting.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include <tessera/backend.hpp>
#include <tessera/checking/check.hpp>
#include <tessera/executor.hpp>
#include <tessera/gemm.hpp>
#include <tessera/half.hpp>

namespace tessera::test {
namespace {

/// Errors of this many bounds w_i of a row are planted. The page promises to find what is off by more than two.
constexpr double least_bounds = 2.05, most_bounds = 10, bounds_of_a_pair = 3;

/// Plants errors in some rows at a time, checks once, and takes them out again. Rows are judged by themselves, so that
/// each planted row is one trial. Where the backend is a device, the operands are copied to it and the product back.
template <class T, class R>
class Planting {
 public:
  Planting(Index size, const GemmOptions& options)
      : a_(Matrix<T>::random(size, size, Seed{static_cast<std::uint64_t>(size)})),
        b_(Matrix<T>::random(size, size, Seed{static_cast<std::uint64_t>(size) + 1})),
        c_(gemm<R>(a_, b_, options)),
        certifier_({{checked(a_), checked(b_)}}, static_cast<CheckedType>(dtype_of<R>),
                   {.math = options.math, .seed = static_cast<std::uint64_t>(size), .rows = 2, .vectors = 16}),
        dice_(static_cast<std::uint64_t>(size)) {
    for (Index i = 0; i < size; ++i)
      if (certifier_.row_bound(0, i) >= 0) judged_.push_back(i);
  }

  Counts run(Index count, Index rows_at_once) {
    Counts counts = honest();
    counts.unjudged = c_.rows() - static_cast<Index>(judged_.size());
    if (judged_.empty()) return counts;
    while (counts.planted < count) plant_some(std::min(rows_at_once, count - counts.planted), false, counts);
    while (counts.pairs < count / 10) plant_some(std::min(rows_at_once, count / 10 - counts.pairs), true, counts);
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

  static double value_of(R element) { return static_cast<double>(static_cast<Scalar<R>>(element)); }

  /// Returns the largest error in bounds of the row, at most `most_bounds`, with which R still has a finite number.
  double most_in(Index i, Index j) const {
    const double room = static_cast<double>(std::numeric_limits<R>::max()) - std::abs(value_of(c_(i, j)));
    return std::clamp(0.9 * room / certifier_.row_bound(0, i), least_bounds, most_bounds);
  }

  /// Moves an element by `bounds` times its row's bound, or by more where R has no number that is far enough. If R has
  /// no such finite number at all, the element becomes infinite, which the page promises to find as well.
  void move(Index i, Index j, double bounds) {
    const double limit = certifier_.row_bound(0, i);
    const R old = c_(i, j);
    R moved = old;
    for (double off = bounds * limit; std::abs(value_of(moved) - value_of(old)) < (least_bounds - 0.04) * limit;
         off *= 1.01)
      moved = static_cast<R>(value_of(old) + off);
    c_(i, j) = moved;
  }

  void plant_some(Index wanted, bool in_pairs, Counts& counts) {
    std::map<Index, std::vector<std::pair<Index, R>>> old; // by row: columns and their right elements
    const Index n = c_.cols();
    const auto judged = static_cast<Index>(judged_.size());
    while (static_cast<Index>(old.size()) < std::min(wanted, judged)) {
      const Index i = judged_[static_cast<std::size_t>(dice_.below(judged))];
      if (old.contains(i)) continue;
      const Index j = dice_.below(n);
      const double sign = dice_.below(2) == 0 ? -1 : 1;
      old[i].emplace_back(j, c_(i, j));
      move(i, j, sign * (in_pairs ? bounds_of_a_pair : dice_.between(least_bounds, most_in(i, j))));
      if (!in_pairs || n < 2) continue;
      const Index other = (j + 1 + dice_.below(n - 1)) % n;
      old[i].emplace_back(other, c_(i, other));
      move(i, other, sign * bounds_of_a_pair);
    }
    const Certificate found = answer();
    std::map<Index, double> over;
    for (const RowBeyond& row : found.rows_beyond) over[row.row] = row.over_bound;
    for (const auto& [row, elements] : old) {
      (in_pairs ? counts.pairs : counts.planted) += 1;
      if (over.erase(row) > 0) continue;
      (in_pairs ? counts.pairs_missed : counts.missed) += 1;
      if (!in_pairs) fmt::print("missed: c({}, {}) of {}×{}×{}\n", row, elements[0].first, c_.rows(), n, a_.cols());
    }
    counts.honest_rows_found += static_cast<Index>(over.size());
    for (const auto& [row, elements] : old)
      for (auto element = elements.rbegin(); element != elements.rend(); ++element)
        c_(row, element->first) = element->second;
  }

  Matrix<T> a_, b_;
  Matrix<R> c_;
  Certifier certifier_;
  std::vector<Index> judged_; ///< rows
  Dice dice_;
};

std::string to_text(const PlantedKind& kind) {
  const std::string text = fmt::format("{} {}", to_string(kind.type), to_string(kind.math));
  return kind.result == kind.type ? text : text + fmt::format(" to {}", to_string(kind.result));
}

} // namespace

std::vector<PlantedKind> planted_kinds(std::optional<Backend> backend) {
  if (!backend) return {{DType::F32, DType::F32}, {DType::F64, DType::F64}};
  std::vector<PlantedKind> kinds;
  for (const GemmKernel& kernel : executor(*backend).gemm_kernels()) {
    if (kernel.yardstick) continue;
    for (const ElementType& result : element_types) {
      const bool narrows = is_16_bit(result.type) && !is_16_bit(kernel.type);
      const PlantedKind kind{kernel.type, result.type, kernel.math};
      if (is_result_of(result.type, kernel.type) && (!narrows || kernel.narrows) &&
          std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
        kinds.push_back(kind);
    }
  }
  return kinds;
}

Counts plant(std::optional<Backend> backend, const PlantedKind& kind, Index size, Index count) {
  Counts counts;
  const GemmOptions options{.backend = backend.value_or(Backend::Auto), .math = kind.math};
  try {
    visit(kind.type, [&]<class T>(std::type_identity<T>) {
      visit(kind.result, [&]<class R>(std::type_identity<R>) {
        if constexpr (ResultOf<R, T>) counts = Planting<T, R>(size, options).run(count, std::max<Index>(1, size / 4));
      });
    });
  } catch (const KernelRejected& error) { // every kernel of the mode may need what this machine lacks
    fmt::print("left out: {}×{}×{} {}: {}\n", size, size, size, to_text(kind), error.what());
    return counts;
  }
  fmt::print(
      "planted in {0}×{0}×{0} {1}: {2} elements, {3} missed; {4} pairs, {5} missed; {6} honest rows found, {7} rows "
      "not judged\n",
      size, to_text(kind), counts.planted, counts.missed, counts.pairs, counts.pairs_missed, counts.honest_rows_found,
      counts.unjudged);
  std::fflush(stdout);
  return counts;
}

} // namespace tessera::test
