#include "diagnose.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <tessera/detail/number_text.hpp>
#include <tessera/half.hpp>

namespace tessera::certificate {
namespace {

using compare::ElementSource;
using compare::ExactElement;
using compare::RowProblem;

constexpr std::size_t rows_probed = 4;
constexpr std::size_t elements_probed_a_row = 16;
/// Fewer elements than this agree with a wrong explanation too easily.
constexpr std::size_t least_for_a_factor = 4;
constexpr std::size_t least_for_a_tail = 2;

/// A wrong element, with the product's sum and the sum of the magnitudes of its terms.
struct Probe {
  Index i, j;
  double computed;
  double exact; ///< of C
  double bound;
  double sum = 0, magnitude = 0; ///< Σ a·b and Σ|a·b|
};

std::string text(double number) { return detail::general_text(number, 6); }

/// Tests explanations of wrong elements. The sums are computed in double, whose own error is added to the bounds.
template <class T>
class Explanations {
 public:
  Explanations(const OneProduct<T>& product, const ElementSource& c, const typename OneProduct<T>::Answer& answer)
      : product_(product), problem_(product.problem()), c_(c), answer_(answer) {
    probe(product.sample(), answer.sampled);
    for (const compare::ReferenceProduct<T>& reference : answer.references) probe(reference, answer.found);
  }

  std::vector<Finding> run() {
    if (answer_.sampled.misplaced + answer_.found.misplaced > 0)
      find(Diagnosis::NonFinite, std::to_string(answer_.sampled.misplaced + answer_.found.misplaced) +
                                     " compared elements are NaN or Inf and should not be, or the reverse");
    if (probes_.empty()) return findings_;
    for (Probe& x : probes_) std::tie(x.sum, x.magnitude) = sums(problem_.a, problem_.b, x.i, x.j);
    unwritten();
    without_parts();
    transposed();
    if (findings_.empty()) tail();
    if (findings_.empty()) factor();
    if (findings_.empty() && are_spread()) low_precision();
    return findings_;
  }

 private:
  void find(Diagnosis diagnosis, std::string what, double value = 0) {
    findings_.push_back({diagnosis, std::move(what), value});
  }

  std::string all_of_them() const {
    return "all " + std::to_string(probes_.size()) + " wrong elements that were tested";
  }

  /// Takes wrong elements of some compared rows.
  void probe(const compare::ReferenceProduct<T>& reference, const GemmError& error) {
    if (error.beyond == 0) return;
    const Index n = reference.shape.n;
    std::vector<T> buffer(static_cast<std::size_t>(n));
    std::size_t rows = 0;
    for (std::size_t r = 0; r < reference.rows.size() && rows < rows_probed; ++r) {
      const T* computed = compare::read_block<T>(c_, reference.rows[r], 1, 0, n, buffer.data()).data;
      std::vector<Probe> wrong;
      for (Index j = 0; j < n; ++j) {
        const std::size_t e = reference.at(r, j);
        const double low = reference.low.empty() ? 0 : reference.low[e];
        const double limit = reference.limit.empty() ? compare::element_bound(reference, product_.bound(), r, j,
                                                                              std::abs(reference.high[e]))
                                                     : reference.limit[e];
        const double off = std::abs((static_cast<double>(computed[j]) - reference.high[e]) - low);
        if (off > limit && std::isfinite(off))
          wrong.push_back({reference.rows[r], j, static_cast<double>(computed[j]), reference.high[e] + low, limit});
      }
      if (wrong.empty()) continue;
      ++rows;
      const std::size_t step = (wrong.size() + elements_probed_a_row - 1) / elements_probed_a_row;
      for (std::size_t x = 0; x < wrong.size(); x += step) probes_.push_back(wrong[x]);
    }
  }

  static std::pair<double, double> sums(const ElementSource& a, const ElementSource& b, Index i, Index j) {
    double sum = 0, magnitude = 0;
    for (Index p = 0; p < a.cols; ++p) {
      const double term = compare::element_at<double>(a, i, p) * compare::element_at<double>(b, p, j);
      sum += term;
      magnitude += std::abs(term);
    }
    return {sum, magnitude};
  }

  double old(Index i, Index j) const {
    return problem_.c_before.data == nullptr ? 0 : compare::element_at<double>(problem_.c_before, i, j);
  }

  /// Returns what C would be with this sum, factors and epilogue.
  double finished(const RowProblem& problem, double sum, Index i, Index j) const {
    ExactElement x;
    x.high = problem.alpha * sum + (problem.beta == 0 ? 0 : problem.beta * old(i, j));
    compare::apply_epilogue(problem, i, j, 0, x);
    return x.high + x.low;
  }

  /// Is C this number within the bound of a sum with these magnitudes?
  bool agrees(const Probe& x, double value, double magnitude) const {
    const double depth = static_cast<double>(problem_.k()) + 8;
    const double own = compare::gamma(depth, 0x1p-53) * (std::abs(problem_.alpha) * (magnitude + x.magnitude));
    const double of_c = x.magnitude > 0 ? std::max(1.0, magnitude / x.magnitude) : 1.0;
    const double narrow = is_16_bit(product_.kind().result) // the last rounding is relative to the other value
                              ? compare::unit_roundoff(product_.kind().result) * std::abs(value)
                              : 0;
    return std::abs(x.computed - value) <= x.bound * of_c + own + narrow;
  }

  template <class Value>
  bool all_agree(const Value& value) const {
    return std::all_of(probes_.begin(), probes_.end(),
                       [&](const Probe& x) { return agrees(x, value(x), x.magnitude); });
  }

  void unwritten() {
    if (std::all_of(probes_.begin(), probes_.end(), [](const Probe& x) { return x.computed == 0; }))
      find(Diagnosis::NotWritten, all_of_them() + " are zero: C was not written there");
    else if (problem_.c_before.data != nullptr &&
             std::all_of(probes_.begin(), probes_.end(), [&](const Probe& x) { return x.computed == old(x.i, x.j); }))
      find(Diagnosis::Stale, all_of_them() + " are C as it was before the product: C was not written there");
  }

  /// Tests whether C is another product, of which a part is missing or too much.
  void other_product(Diagnosis diagnosis, const RowProblem& other, const std::string& says) {
    if (all_agree([&](const Probe& x) { return finished(other, x.sum, x.i, x.j); }))
      find(diagnosis, all_of_them() + " agree with the product " + says);
  }

  void without_parts() {
    RowProblem other = problem_;
    if (problem_.beta != 0) {
      other.beta = 0;
      other_product(Diagnosis::BetaIgnored, other, "without beta·C₀");
    } else if (problem_.c_before.data != nullptr) {
      other.beta = 1;
      other_product(Diagnosis::AddedToC, other, "added to C₀, although beta = 0");
    }
    other = problem_;
    if (problem_.bias) {
      other.bias.reset();
      other_product(Diagnosis::MissingBias, other, "without the bias");
    }
    other = problem_;
    if (problem_.residual) {
      other.residual.reset();
      other_product(Diagnosis::MissingResidual, other, "without the residual");
    }
    const std::pair<Activation, const char*> activations[] = {
        {Activation::None, "without an activation"}, {Activation::Relu, "with ReLU"}, {Activation::Gelu, "with GELU"}};
    for (const auto& [activation, says] : activations) {
      other = problem_;
      other.activation = activation;
      if (activation != problem_.activation) other_product(Diagnosis::OtherActivation, other, says);
    }
  }

  void other_operands(Diagnosis diagnosis, const ElementSource& a, const ElementSource& b, bool of_c,
                      const std::string& says) {
    for (const Probe& x : probes_) {
      const Index i = of_c ? x.j : x.i, j = of_c ? x.i : x.j;
      const auto [sum, magnitude] = sums(a, b, i, j);
      if (!agrees(x, finished(problem_, sum, x.i, x.j), magnitude)) return;
    }
    find(diagnosis, all_of_them() + " agree with " + says);
  }

  void transposed() {
    const auto flipped = [](const ElementSource& x) {
      return ElementSource{x.type, x.data, x.cols, x.rows, x.col, x.row};
    };
    const bool square_a = problem_.m() == problem_.k(), square_b = problem_.k() == problem_.n();
    if (square_a) other_operands(Diagnosis::TransposedA, flipped(problem_.a), problem_.b, false, "the product of Aᵀ");
    if (square_b) other_operands(Diagnosis::TransposedB, problem_.a, flipped(problem_.b), false, "the product with Bᵀ");
    if (square_a && square_b)
      other_operands(Diagnosis::TransposedBoth, flipped(problem_.a), flipped(problem_.b), false, "Aᵀ·Bᵀ");
    if (problem_.m() == problem_.n())
      other_operands(Diagnosis::TransposedC, problem_.a, problem_.b, true,
                     "the transpose of the product, as where C was written or read column by column");
  }

  /// Looks for a k up to which the sums of all probes go.
  void tail() {
    if (probes_.size() < least_for_a_tail || problem_.k() < 2) return;
    std::vector<std::uint8_t> possible(static_cast<std::size_t>(problem_.k()), 1);
    for (const Probe& x : probes_) {
      double sum = 0;
      for (Index p = 0; p < problem_.k(); ++p) { // the sum of the first p products
        auto& here = possible[static_cast<std::size_t>(p)];
        if (here != 0 && !agrees(x, finished(problem_, sum, x.i, x.j), x.magnitude)) here = 0;
        sum += compare::element_at<double>(problem_.a, x.i, p) * compare::element_at<double>(problem_.b, p, x.j);
      }
    }
    const auto last = std::find(possible.rbegin(), possible.rend(), 1);
    if (last == possible.rend()) return;
    const auto depth = static_cast<Index>(possible.rend() - last) - 1;
    if (depth == 0) return; // then C is what an empty product gives, which other explanations say better
    find(Diagnosis::MissingTail,
         all_of_them() + " agree with sums that end at k = " + std::to_string(depth) + " of " +
             std::to_string(problem_.k()),
         static_cast<double>(depth));
  }

  void factor() {
    if (probes_.size() < least_for_a_factor) return;
    const Probe& largest = *std::max_element(probes_.begin(), probes_.end(), [](const Probe& x, const Probe& y) {
      return std::abs(x.exact) < std::abs(y.exact);
    });
    if (largest.exact == 0) return;
    const double by = largest.computed / largest.exact;
    // The factor is as uncertain as the largest element. It explains only errors that are far larger than this
    // uncertainty.
    const double doubt = largest.bound / std::abs(largest.exact);
    std::size_t explained = 0;
    for (const Probe& x : probes_) {
      const double open = (1 + std::abs(by)) * x.bound + doubt * std::abs(x.exact);
      if (std::abs(x.computed - by * x.exact) > open) return;
      if (std::abs(x.computed - x.exact) > 4 * open) ++explained;
    }
    if (explained < least_for_a_factor) return;
    find(Diagnosis::Factor, all_of_them() + " are " + text(by) + " times what they should be", by);
  }

  /// Are most of the compared elements wrong? Low precision changes nearly all of them, and a fault in some places does
  /// not.
  bool are_spread() const {
    const double compared = static_cast<double>(answer_.sampled.rows_compared + answer_.rows_found_compared) *
                            static_cast<double>(problem_.n());
    return static_cast<double>(answer_.sampled.beyond + answer_.found.beyond) > compared / 4;
  }

  /// Are all compared elements within the bounds of other arithmetic?
  bool is_within(const compare::BoundCoefficients& bound) const {
    const auto fits = [&](const compare::ReferenceProduct<T>& reference) {
      const GemmError error = product_.compare(reference, c_, bound);
      return error.within_bound();
    };
    return fits(product_.sample()) && std::all_of(answer_.references.begin(), answer_.references.end(), fits);
  }

  /// A way in which operands of f32 may have been rounded.
  struct RoundedOperands {
    const char* says;
    float (*round)(float);
  };
  /// Keeps 10 digits after the leading one, as tf32 does; rounds to nearest, ties to even, or cuts.
  static float tf32(float x, bool cuts) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t half = cuts ? 0 : 0xFFFu + (bits >> 13 & 1u);
    return std::isfinite(x) ? std::bit_cast<float>((bits + half) & 0xFFFFE000u) : x;
  }
  static constexpr RoundedOperands roundings[] = {
      {"rounded to tf32", [](float x) { return tf32(x, false); }},
      {"cut to tf32", [](float x) { return tf32(x, true); }},
      {"rounded to fp16", [](float x) { return static_cast<float>(f16(x)); }},
      {"rounded to bf16", [](float x) { return static_cast<float>(bf16(x)); }},
      {"cut to bf16", [](float x) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xFFFF0000u); }}};

  /// Are the tested elements sums of rounded operands in f32, within twice the bound, as truncating accumulators give?
  bool agrees_with_rounded(float (*round)(float)) const {
    return std::all_of(probes_.begin(), probes_.end(), [&](const Probe& x) {
      double sum = 0;
      for (Index p = 0; p < problem_.k(); ++p)
        sum += static_cast<double>(round(compare::element_at<float>(problem_.a, x.i, p))) *
               static_cast<double>(round(compare::element_at<float>(problem_.b, p, x.j)));
      return std::abs(x.computed - finished(problem_, sum, x.i, x.j)) <= 2 * x.bound;
    });
  }

  void low_precision() {
    if (product_.kind().whole || problem_.has_epilogue()) return;
    const Arithmetic& own = product_.kind().arithmetic;
    const auto says = [&](const std::string& what) {
      find(Diagnosis::LowPrecision, "the errors are within the bounds of " + what);
    };
    if (product_.kind().a == CheckedType::F32) {
      for (const RoundedOperands& how : roundings)
        if (own.math == Math::Strict && agrees_with_rounded(how.round))
          return find(Diagnosis::LowPrecision,
                      all_of_them() + " agree with the product of operands that were " + how.says);
      for (const Math math : {Math::Tf32, Math::Fp16, Math::Bf16}) {
        if (own.math == math) break; // the modes are in order of precision
        if (is_within(product_.bound_of({own.type, math, own.summation, Accumulator::Truncating})))
          return says("math mode " + std::string(to_string(math)) + ", which rounds the operands");
      }
    }
    // Sums in a narrower type. The operands may be rounded to it as well.
    const double k = static_cast<double>(problem_.k());
    const auto narrower = [&](double u, const std::string& what) {
      compare::BoundCoefficients bound = product_.bound();
      bound.product += compare::gamma(k + 4, u) + 4 * u;
      bound.old += compare::gamma(k + 4, u);
      bound.result += u;
      if (!std::isfinite(bound.product) || !is_within(bound)) return false;
      says(what);
      return true;
    };
    if (own.type == DType::F64)
      narrower(0x1p-24, "f32: operands, sums or results were rounded to it");
    else if (!narrower(0x1p-11, "sums or results in f16"))
      narrower(0x1p-8, "sums or results in bf16");
  }

  const OneProduct<T>& product_;
  const RowProblem& problem_;
  const ElementSource& c_;
  const typename OneProduct<T>::Answer& answer_;
  std::vector<Probe> probes_;
  std::vector<Finding> findings_;
};

} // namespace

template <class T>
std::vector<Finding> diagnose(const OneProduct<T>& product, const ElementSource& c,
                              const typename OneProduct<T>::Answer& answer) {
  if (answer.sampled.beyond + answer.found.beyond == 0) return {};
  return Explanations<T>(product, c, answer).run();
}

template std::vector<Finding> diagnose(const OneProduct<float>&, const ElementSource&,
                                       const OneProduct<float>::Answer&);
template std::vector<Finding> diagnose(const OneProduct<double>&, const ElementSource&,
                                       const OneProduct<double>::Answer&);

} // namespace tessera::certificate
