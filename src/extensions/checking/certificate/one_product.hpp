#pragma once

/// The check of one product of a certificate.

#include <optional>
#include <variant>
#include <vector>

#include "arguments.hpp"

namespace tessera::certificate {

/// How much of a product is looked at.
struct Effort {
  Index rows = 0;    ///< sampled and compared element by element
  Index bundles = 0; ///< of 16 vectors each; 0: no Freivalds' check
  std::uint64_t seed = 1;
  int threads = 1;
};

/// Computes with T, which is the kind's scalar type.
template <class T>
class OneProduct {
 public:
  OneProduct(const compare::RowProblem& problem, const Kind& kind, const Effort& effort);

  /// What one C gave.
  struct Answer {
    std::vector<double> over; ///< of each row by Freivalds' check, −1: not judged; empty: not done
    std::vector<compare::ReferenceProduct<T>> references; ///< the rows that were found, beside the sample; one or none
    GemmError sampled;                                    ///< errors of the sample
    GemmError found;                                      ///< errors of the rows that were found
    Index rows_found_compared = 0;
    bool is_blind = false; ///< a C of zeros would pass, though the product has other elements
  };

  /// Compares C, and adds its errors to `all`. At most `most_found` rows that Freivalds' check finds are compared too.
  Answer check(const compare::ElementSource& c, Index most_found) const;

  /// Compares rows of a product with this arithmetic; the rows' bounds include the epilogue.
  GemmError compare(const compare::ReferenceProduct<T>& reference, const compare::ElementSource& c,
                    const compare::BoundCoefficients& bound) const;
  /// Returns the reference of these rows, with the epilogue applied where there is one. `sampled` may have their sums.
  compare::ReferenceProduct<T> reference(std::vector<Index> rows,
                                         const compare::SampledRows<T>* sampled = nullptr) const;
  /// Returns the bounds of products with this arithmetic before the epilogue, or of C where there is none.
  compare::BoundCoefficients bound_of(const Arithmetic& arithmetic) const;

  const compare::RowProblem& problem() const { return problem_; }
  const Kind& kind() const { return kind_; }
  const compare::BoundCoefficients& bound() const { return bound_; }
  const compare::ReferenceProduct<T>& sample() const { return *sample_; }
  const std::optional<compare::RowCheck<T>>& rows() const { return rows_; }
  int threads() const { return effort_.threads; }
  Index vectors() const { return effort_.bundles * compare::lanes; }

 private:
  /// Would a C of zeros pass, although the product is not zero? `sampled` are the errors of the sample.
  bool is_blind(const GemmError& sampled) const;
  /// Do the bounds need norms of the columns of B? They do for modes that round operands.
  bool needs_columns() const { return bound_.input > 0 || bound_.scaled > 0; }

  compare::RowProblem problem_;
  Kind kind_;
  Effort effort_;
  compare::BoundCoefficients bound_;
  std::optional<compare::RowCheck<T>> rows_;
  std::optional<compare::ReferenceProduct<T>> sample_;
};

extern template class OneProduct<float>;
extern template class OneProduct<double>;

using AnyProduct = std::variant<OneProduct<float>, OneProduct<double>>;

} // namespace tessera::certificate
