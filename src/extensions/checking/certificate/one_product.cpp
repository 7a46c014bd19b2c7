#include "one_product.hpp"

#include <algorithm>

#include "core/base/thread_team.hpp"
#include "extensions/checking/compare/rows.hpp"

namespace tessera::certificate {

using compare::BoundCoefficients;
using compare::Comparison;
using compare::ElementSource;
using compare::ReferenceProduct;
using compare::Sums;

template <class T>
OneProduct<T>::OneProduct(const compare::RowProblem& problem, const Kind& kind, const Effort& effort)
    : problem_(problem), kind_(kind), effort_(effort), bound_(bound_of(kind.arithmetic)) {
  std::vector<Index> rows = compare::random_rows(problem_.m(), effort.rows, effort.seed);
  std::optional<compare::SampledRows<T>> sampled; // is given B by Freivalds' check, which reads all of it
  if (effort.bundles > 0) {
    const Sums how = compare::short_sums_suffice(bound_, kind.scalar) ? Sums::Short : Sums::Precise;
    const bool reads_b = problem_.alpha != 0 && problem_.k() > 0;
    if (reads_b && !needs_columns() && compare::SampledRows<T>::fits(rows.size(), problem_.k(), problem_.n()))
      sampled.emplace(problem_.a, rows, problem_.n());
    rows_.emplace(problem_, effort.bundles, effort.seed, how, effort.threads,
                  compare::needs_largest(bound_, problem_.result), sampled ? &*sampled : nullptr);
  }
  sample_.emplace(reference(std::move(rows), sampled ? &*sampled : nullptr));
}

template <class T>
BoundCoefficients OneProduct<T>::bound_of(const Arithmetic& arithmetic) const {
  if (kind_.whole) return compare::exact_coefficients(0x1p31 - 1);
  const DType rounded_to = problem_.has_epilogue() ? kind_.scalar : kind_.result;
  return compare::bound_coefficients(arithmetic, rounded_to, {problem_.m(), problem_.n(), problem_.k()}, problem_.alpha,
                                     problem_.beta);
}

template <class T>
ReferenceProduct<T> OneProduct<T>::reference(std::vector<Index> rows, const compare::SampledRows<T>* sampled) const {
  const compare::ProductSource source{problem_.a, problem_.b, problem_.c_before, problem_.alpha, problem_.beta};
  std::optional<compare::KnownSizes> known; // where all elements are finite
  if (rows_ && !needs_columns()) known = rows_->known_sizes();
  ReferenceProduct<T> product = known && sampled != nullptr
                                    ? ReferenceProduct<T>(source, std::move(rows), effort_.threads, *known, *sampled)
                                    : ReferenceProduct<T>(source, std::move(rows), effort_.threads, known);
  if (problem_.has_epilogue())
    compare::apply_epilogue(problem_, bound_, product, effort_.threads);
  else if (is_16_bit(kind_.result))
    product.round_results(kind_.result);
  return product;
}

template <class T>
GemmError OneProduct<T>::compare(const ReferenceProduct<T>& reference, const ElementSource& c,
                                 const BoundCoefficients& bound) const {
  const std::size_t rows = reference.rows.size();
  const std::size_t each =
      std::max<std::size_t>(1, (std::size_t{1} << 15) / static_cast<std::size_t>(reference.shape.n + 1));
  std::vector<Comparison<T>> pieces((rows + each - 1) / each, {reference, reference.canonical, bound, kind_.result});
  detail::parallel_for(pieces.size(), effort_.threads, [&](std::size_t piece) {
    std::vector<T> buffer(static_cast<std::size_t>(reference.shape.n));
    for (std::size_t r = piece * each; r < std::min(rows, (piece + 1) * each); ++r)
      pieces[piece].add_row(r,
                            compare::read_block<T>(c, reference.rows[r], 1, 0, reference.shape.n, buffer.data()).data);
  });
  Comparison<T> whole(reference, reference.canonical, bound, kind_.result);
  for (const Comparison<T>& piece : pieces) whole.merge(piece);
  const auto norm = [](const std::vector<compare::VectorNorms>& vectors) {
    compare::Norm2 sum;
    for (const compare::VectorNorms& vector : vectors) sum.add(vector.squares);
    return sum.value();
  };
  return whole.finish(norm(reference.row_norms), norm(reference.col_norms));
}

template <class T>
bool OneProduct<T>::is_blind(const GemmError& sampled) const {
  if (sampled.telling > 0 || (sampled.norm_exact == 0 && !(rows_ && rows_->expects_any()))) return false;
  return !(rows_ && rows_->tells_zeros(bound_));
}

template <class T>
typename OneProduct<T>::Answer OneProduct<T>::check(const ElementSource& c, Index most_found) const {
  Answer answer;
  answer.sampled = compare(*sample_, c, bound_);
  answer.is_blind = is_blind(answer.sampled);
  if (!rows_) return answer;
  answer.over = rows_->check(c, bound_, effort_.threads);
  std::vector<Index> found;
  for (Index i = 0; i < problem_.m(); ++i)
    if (answer.over[static_cast<std::size_t>(i)] > 1 &&
        !std::binary_search(sample_->rows.begin(), sample_->rows.end(), i))
      found.push_back(i);
  const auto kept = std::min(found.size(), static_cast<std::size_t>(most_found));
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(kept), found.end(),
                    [&](Index x, Index y) {
                      const double of_x = answer.over[static_cast<std::size_t>(x)];
                      const double of_y = answer.over[static_cast<std::size_t>(y)];
                      return of_x > of_y || (of_x == of_y && x < y);
                    });
  found.resize(kept);
  std::sort(found.begin(), found.end());
  if (found.empty()) return answer;
  answer.rows_found_compared = static_cast<Index>(found.size());
  answer.references.push_back(reference(std::move(found)));
  answer.found = compare(answer.references.front(), c, bound_);
  return answer;
}

template class OneProduct<float>;
template class OneProduct<double>;

} // namespace tessera::certificate
