#pragma once

/// The workload makes the data of each call and checks the results. The data differ in every call, and the answer never
/// enters the child. There are three kinds of call:
///   - *Permuted*: the caller's matrices with the rows of op(A) and the columns of op(B) shuffled. The product is the
///     caller's product with its rows and columns shuffled alike: each element is one sum of equal terms in equal
///     order. One reference therefore serves all calls, while an answer that a kernel remembers is wrong.
///   - *Rotated*: as permuted, and each row of op(A) is rotated along k besides. The elements are the caller's, but the
///     product is a new one, which no answer of before helps to compute. check.hpp says whether it is right.
///   - *Whole numbers*: small integers, whose sums are exact in every order and in every math mode; where C has 16
///   bits,
///     most elements of A are 0. Int8 products have all of int8_t, and no other calls. The product is
///     checked as a whole and exactly: C·x = alpha·A·(B·x) + beta·C₀·x for a random vector x (Freivalds 1977). Rows
///     that fail are then checked element by element.

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <tessera/backend/kernel.hpp>

#include "channel.hpp"
#include "exact_product.hpp"

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
  bool has_data() const noexcept { return call_.a != nullptr; }

  void place_integers();
  void place_permuted();
  void place_rotated();

  /// Returns what is wrong in the child's result. Call it after place_integers().
  Mistakes check_integers();
  /// Returns what is wrong in the child's result, or "". Call it after place_rotated().
  std::string check_rotated();
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
  /// rotations: for each row of the child's op(A), by how much it is rotated.
  template <class T>
  void place_permuted_as(const std::vector<Index>& rotations);
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
  std::mt19937_64 random_;
  std::vector<Index> rows_, cols_; ///< row i of the child's op(A) is row rows_[i] of the caller's op(A)
  std::vector<std::byte> restored_;
};

} // namespace tessera::judge
