#pragma once

/// Rows of A and columns of B with few elements that are not zero, between others that have all of them.
///
/// Errors of long sums grow with their length, until they are larger than what operands of fewer digits make. A
/// sum of one to eight terms has no such errors, whatever k is: in f32 or f64 it is right to a few units, and a product
/// that has no more digits than its type is exact. Products of operands that were split into shorter ones, sums that
/// were shortened between two blocks, and Strassen's recursion, which adds numbers of other rows and takes them away
/// again, differ from it.

#include <random>
#include <string>
#include <vector>

#include <tessera/backend/kernel.hpp>

namespace tessera::judge {

/// Which rows of op(A) and columns of op(B) have few terms.
struct FewTerms {
  std::vector<Index> rows, cols;
};

/// Puts zeros into at most so many rows of op(A) and columns of op(B), which it chooses; of some elements it leaves the
/// sign and a power of two. `placed`: the call with its operands. `a`, `b`: the same operands, to be changed.
FewTerms leave_few_terms(const GemmCall& placed, void* a, void* b, Index rows, Index cols, std::mt19937_64& random);

/// Says which element of these rows and columns of C is farther from the product than so few operations of f32 or f64
/// can bring it, in any order; "" if none is. `placed`: the call with its operands and C as it was before the product.
/// `found`: the kernel's C, with the call's ldc.
std::string beyond_few_terms(const GemmCall& placed, const void* found, const FewTerms& few);

} // namespace tessera::judge
