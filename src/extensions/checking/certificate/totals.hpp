#pragma once

/// The sums of a certificate over its products.

#include "extensions/checking/compare/norm2.hpp"
#include "one_product.hpp"

namespace tessera::certificate {

/// Adds answers up. `certificate` is complete after finish().
class Totals {
 public:
  Certificate certificate;

  /// Adds the answer of product number `index`.
  template <class T>
  void add(Index index, const OneProduct<T>& product, const typename OneProduct<T>::Answer& answer) {
    Certificate& all = certificate;
    const Index m = product.problem().m();
    all.rows += m;
    all.rows_sampled += answer.sampled.rows_compared;
    all.rows_compared += answer.sampled.rows_compared + answer.rows_found_compared;
    all.blind_products += answer.is_blind;
    add_error(index, answer.sampled, product.problem().n());
    if (answer.rows_found_compared > 0) add_error(index, answer.found, product.problem().n());
    if (product.rows()) {
      all.vectors = static_cast<int>(product.vectors());
      for (std::size_t i = 0; i < answer.over.size(); ++i) add_row(index, static_cast<Index>(i), answer.over[i]);
    }
  }

  /// Decides the verdict, and computes the means.
  void finish();

 private:
  void add_error(Index index, const GemmError& error, Index columns);
  void add_row(Index index, Index row, double over);

  compare::Norm2 off_, exact_;
  double sum_rel_ = 0;
  double elements_ = 0;
};

} // namespace tessera::certificate
