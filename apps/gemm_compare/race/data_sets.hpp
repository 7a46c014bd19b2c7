#pragma once

/// Random operands, from easy ones to operands that make a product inaccurate.
///
/// cancel: sums that almost vanish. The second half of the terms repeats the first with the other sign, to within a
/// factor 1 ± δ: a_i,p+h = a_ip and b_p+h,j = −b_pj + δ·r_pj with h = ⌊k/2⌋ and r uniform in [−1, 1). Every row's
/// condition Σ|a||b| / |Σab| is then about √k/δ: 10⁵ for f32 (δ = 2⁻¹²) and 3·10⁷ for f64 (δ = 2⁻²⁰) at k = 1000. A
/// partial sum grows for half the way and shrinks for the other half, so that no order of summation escapes.
/// (Idea: Ogita, Rump, Oishi 2005, algorithm 6.1, for a single dot product.)
///
/// scaled: rows of op(A) and columns of op(B) are uniform times powers of two, which rise from 2^−E for the first to
/// 2^E for the last one. It tells kernels apart that mix rows or columns, such as Strassen's; see grade.hpp.
///
/// special: on average one NaN or Inf in every fourth row of op(A) and column of op(B), and four zeros, subnormal, tiny
/// or huge numbers in each, so that part of C is exceptional and most is not.

#include "operands.hpp"

namespace tessera::compare_app {

/// Fills a, b and, unless it is null, c with the random operands of one product, in host memory laid out as `problem`.
/// Each set has different ones.
void fill_operands(const Problem& problem, const Options& options, std::size_t set, void* a, void* b, void* c);

/// Fills one matrix of a data set in which matrices do not depend on each other. `k`: elements of it in one sum.
void fill_matrix(const Stored& x, const Filling& filling, Index k, std::uint64_t seed, void* data);

/// Fills a vector with whole numbers: the filling's, or default_whole where it is of other numbers.
void fill_whole(const Filling& filling, Index count, std::uint64_t seed, std::int32_t* numbers);

} // namespace tessera::compare_app
