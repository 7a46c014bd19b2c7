#pragma once

/// The workload makes the data of each call and checks the results. The data differ in every call, and the answer never
/// enters the child. There are four kinds of call:
///   - *Fresh*: elements that are drawn anew (fresh_data.hpp), so that no call before helps to compute the product.
///     check.hpp says whether C is right, and fresh_data.hpp whether its errors are as large as honest sums have them.
///     All timed calls have such data.
///   - *Permuted*: the caller's matrices with the rows of op(A) and the columns of op(B) shuffled. The product is the
///     caller's product with its rows and columns shuffled alike: each element is one sum of equal terms in equal
///     order. One reference therefore serves all calls. A kernel that remembers an answer may find it again, which
///     gains nothing, because these calls are not timed.
///   - *Whole numbers*: small integers, whose sums are exact in every order and in every math mode; where C has 16
///   bits,
///     most elements of A are 0. Int8 products have all of int8_t, and no other calls, so that these are timed. The
///     product is checked as a whole and exactly: C·x = alpha·A·(B·x) + beta·C₀·x for a random vector x (Freivalds
///     1977). Rows that fail are then checked element by element.
///   - *Subnormal*: a few whole numbers in a few rows of op(A), and everything scaled so that products and sums are
///     subnormal, and exact. A kernel that flushes them to zero while it computes shows here, even if it leaves the
///     floating-point state as it found it.

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <tessera/backend/kernel.hpp>

#include "channel.hpp"
#include "exact_product.hpp"
#include "few_terms.hpp"
#include "fresh_data.hpp"

namespace tessera::judge {

/// The whole numbers of a call.
struct WholeNumbers {
  int low = 0, high = 0; ///< the smallest and the largest
  Index terms = 0;       ///< at most so many of a row of op(A) are not 0; 0: no whole numbers are exact
};

/// Places the operands in the parent's memory and checks the results.
class Workload {
 public:
  /// `call`: the operands in host memory, with C as it is before the product. A null `a` means that there are no data,
  /// and only whole numbers can be placed. `memory`: private memory, laid out as `problem` says.
  Workload(const GemmCall& call, const Problem& problem, std::byte* memory);

  /// Returns whether sums of whole numbers are exact with this alpha, beta and k.
  bool can_be_exact() const noexcept { return whole_numbers_.terms > 0; }
  /// Returns whether the same holds for sums that are subnormal numbers.
  bool can_be_subnormal() const noexcept { return can_be_exact() && is_full_precision(call_); }
  bool has_data() const noexcept { return call_.a != nullptr; }

  void place_integers();
  void place_subnormals();
  void place_permuted();
  /// Calls that are not timed have more sums of few terms.
  void place_fresh(bool timed);

  /// Returns what is wrong in the child's result. Call it after place_integers() or place_subnormals().
  Mistakes check_integers();
  /// Returns what is wrong in the child's result, or "". Call it after place_fresh().
  std::string check_fresh();
  /// Returns the child's result in the caller's order, laid out as the caller's C. Call it after place_permuted().
  const std::vector<std::byte>& restored();

  // These examine the result as the child left it.
  Index unwritten() const;           ///< number of elements that still hold the poison; 0 if beta ≠ 0
  Index not_a_number() const;        ///< number of NaN elements without the poison
  bool padding_changed() const;      ///< the padding between rows no longer holds the poison
  std::uint64_t fingerprint() const; ///< a hash of all its bytes

 private:
  template <class T, class R>
  void fill_all();
  template <class T, class R>
  void place_integers_as();
  template <class T>
  void place_subnormals_as();
  /// Returns a function that draws whole numbers times `unit`, one at a call.
  auto whole_numbers_times(double unit);
  template <class T>
  void place_permuted_as();
  template <class T>
  void place_fresh_as();
  /// Returns what the bounds of check.hpp say of C.
  std::string beyond_bounds(const GemmCall& call);
  /// Returns the call with the operands in private memory.
  GemmCall placed() const;
  template <class T, class R>
  Mistakes check_integers_as();
  template <class T>
  T* at(const Region& region) const {
    return reinterpret_cast<T*>(memory_ + region.offset);
  }

  GemmCall call_;
  Problem problem_;
  std::byte* memory_;
  WholeNumbers whole_numbers_;
  std::mt19937_64 random_;         ///< is made anew before it draws operands, and before it draws what checks them
  Spread spread_;                  ///< of the fresh operands
  FewTerms few_terms_;             ///< of the fresh operands
  std::vector<Index> rows_, cols_; ///< row i of the child's op(A) is row rows_[i] of the caller's op(A)
  std::vector<std::byte> restored_;
};

} // namespace tessera::judge
