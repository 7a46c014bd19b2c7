#pragma once

/// The data of each call: never the same twice, and checked against an answer that never enters the child.
///
/// Two kinds of call. *Permuted*: the caller's own matrices with the rows of op(A) and the columns of op(B) shuffled.
/// The product is the caller's with rows and columns shuffled alike, element for element the same sum in the same
/// order, so that one reference serves all calls while a remembered answer is wrong. *Whole numbers*: small integers,
/// with which every order of summation is exact and every mode too. The product is checked as a whole, exactly:
/// C·x = alpha·A·(B·x) + beta·C₀·x for a random vector x (Freivalds 1977), then element by element where a row is off.

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <tessera/backend/kernel.hpp>

#include "channel.hpp"

namespace tessera::judge {

/// Which elements of C are wrong, as far as was looked.
struct Mistakes {
  Index count = 0; ///< wrong elements found; all of C was looked at, but at most 64 of its wrong rows
  Index row = -1;  ///< the first one
  Index col = -1;
  double expected = 0, found = 0;
  bool only_at_edges = false; ///< the last rows or columns, and none of the rest
  Index k_of_answer = 0;      ///< if not 0: the elements are what a product with this k would give
};

/// Places the operands in memory that the child shares, and knows what must come out.
class Workload {
 public:
  /// `call`: host operands, C as it is before the product; a null a: there are no data, whole numbers only.
  Workload(const GemmCall& call, const Problem& problem, std::byte* memory);

  /// Whole numbers are exact for these alpha, beta and k.
  bool can_be_exact() const noexcept { return can_be_exact_; }
  bool has_data() const noexcept { return call_.a != nullptr; }

  void place_integers();
  void place_permuted();

  /// After place_integers(): what is wrong in the child's result.
  Mistakes check_integers();
  /// After place_permuted(): the child's result in the caller's order, laid out as the caller's C.
  const std::vector<std::byte>& restored();

  // Of the result as the child left it:
  Index unwritten() const; ///< elements that still hold what they were poisoned with; 0 if beta ≠ 0
  Index not_a_number() const;
  bool padding_changed() const; ///< between the rows
  std::uint64_t fingerprint() const;

 private:
  template <class T>
  void place_integers_as();
  template <class T>
  void place_permuted_as();
  template <class T>
  Mistakes check_integers_as();
  template <class T>
  T* at(const Region& region) const {
    return reinterpret_cast<T*>(memory_ + region.offset);
  }

  GemmCall call_;
  Problem problem_;
  std::byte* memory_;
  bool can_be_exact_;
  std::mt19937_64 random_;
  std::vector<Index> rows_, cols_; ///< row i of the child's op(A) is row rows_[i] of the caller's
  std::vector<std::byte> restored_;
};

} // namespace tessera::judge
