#pragma once

/// Products whose shapes are drawn at random, as programs have them rather than as benchmarks like them.

#include <cstdint>
#include <string>
#include <vector>

#include <tessera/backend/gemm_shape.hpp>
#include <tessera/types.hpp>

namespace tessera::bench {

/// C := alpha·op(A)·op(B) + beta·C, with op(A) m×k and op(B) k×n. Rows are stored without gaps.
struct RacedProduct {
  GemmShape shape;
  Op op_a = Op::None, op_b = Op::None;
  double alpha = 1, beta = 0; ///< f16 and bf16 hold them, too
};

double multiply_adds(const RacedProduct& product);

/// "128×2302×144 TN α=-1 β=0.5": the letters say how A and B are stored; no letters where both are as they are used,
/// and no factors where alpha is 1 or beta is 0.
std::string to_text(const RacedProduct& product);

/// Reads "128x2302x144:TN". Without a colon both operands are stored as they are used. Throws InvalidArgument for other
/// texts.
RacedProduct parse_product(const std::string& text);

/// The sizes from which shapes are drawn.
struct SizeLimits {
  Index side_least = 16, side_most = 9000;   ///< of m and n
  Index depth_least = 32, depth_most = 9000; ///< of k
};

/// Draws `count` products: each size log-uniformly and by itself, so that long and thin ones are as frequent as
/// squares. A quarter of the sizes are multiples of 64, a third are multiples of 8 at least, the others are whatever
/// was drawn. Two in five operands are stored transposed. A third of the products has beta 0, a third has beta 1 as
/// LAPACK's products have, and the others have ±0.5; half of them have alpha 1, and the others have −1 or 0.75. Product
/// i depends on the seed and on i alone.
std::vector<RacedProduct> random_products(int count, std::uint64_t seed, const SizeLimits& limits);

} // namespace tessera::bench
