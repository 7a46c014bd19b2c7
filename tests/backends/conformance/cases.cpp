#include "cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <tessera/random.hpp>

namespace tessera::conformance {
namespace {

constexpr std::array<Op, 2> ops{Op::None, Op::Transpose};
constexpr std::array<double, 4> scalars{1.0, 0.0, -1.0, 0.6875}; // the last one is exact, but no power of two

/// Makes the random choices of cases. They are equal in each run.
class Choices {
 public:
  explicit Choices(std::uint64_t seed) : seed_(seed) {}
  std::uint32_t below(std::uint32_t count) {
    const PhiloxBlock block = philox4x32(seed_, next_++);
    return block.word[0] % count;
  }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

Placement any_placement(Choices& choices) {
  constexpr std::array<Index, 4> paddings{0, 1, 5, 16};
  Placement placement;
  placement.padding = paddings[choices.below(4)];
  placement.guard = choices.below(3) == 0 ? 0 : 64;
  placement.misaligned = choices.below(3) == 0;
  return placement;
}

/// Returns a case with random placements, threads, transposes, alpha and beta; the caller may then set some of them.
Case any_case(Index m, Index n, Index k, Choices& choices) {
  constexpr std::array<int, 4> threads{0, 1, 2, 3};
  Case x{.m = m, .n = n, .k = k};
  x.op_a = ops[choices.below(2)];
  x.op_b = ops[choices.below(2)];
  x.alpha = scalars[choices.below(4)];
  x.beta = scalars[choices.below(4)];
  x.a = any_placement(choices);
  x.b = any_placement(choices);
  x.c = any_placement(choices);
  x.threads = threads[choices.below(4)];
  return x;
}

void add_small(std::vector<Case>& cases, bool quick) {
  constexpr std::array<Index, 5> sizes{0, 1, 2, 3, 17};
  Choices choices(1);
  std::uint32_t number = 0;
  for (const Index m : sizes)
    for (const Index n : sizes)
      for (const Index k : sizes)
        for (const Op op_a : ops)
          for (const Op op_b : ops) {
            Case x = any_case(m, n, k, choices);
            x.op_a = op_a;
            x.op_b = op_b;
            if (!quick || number++ % 23 == 0) cases.push_back(x);
          }
}

/// Adds every pair of transposes with every alpha and beta.
void add_combinations(std::vector<Case>& cases, bool quick) {
  Choices choices(2);
  std::uint32_t number = 0;
  for (const Op op_a : ops)
    for (const Op op_b : ops)
      for (const double alpha : scalars)
        for (const double beta : scalars) {
          Case x = any_case(37, 41, 29, choices);
          x.op_a = op_a;
          x.op_b = op_b;
          x.alpha = alpha;
          x.beta = beta;
          if (!quick || number++ % 5 == 0) cases.push_back(x);
        }
}

/// Adds `count` cases with alpha ≠ 0, so that A and B are read. If `count` is 4, they have the four pairs of
/// transposes.
void add_products(std::vector<Case>& cases, Index m, Index n, Index k, int count, Choices& choices) {
  for (int i = 0; i < count; ++i) {
    Case x = any_case(m, n, k, choices);
    if (count == 4) {
      x.op_a = ops[static_cast<std::size_t>(i) % 2];
      x.op_b = ops[static_cast<std::size_t>(i) / 2 % 2];
    }
    if (x.alpha == 0) x.alpha = 1;
    cases.push_back(x);
  }
}

void add_shapes(std::vector<Case>& cases, bool quick) {
  constexpr std::array<std::array<Index, 3>, 8> shapes{{{97, 101, 103},
                                                        {31, 257, 7},
                                                        {257, 5, 131},
                                                        {1, 509, 67},
                                                        {509, 1, 67},
                                                        {127, 129, 1},
                                                        {2, 3, 521},
                                                        {149, 139, 151}}};
  Choices choices(3);
  for (const auto& [m, n, k] : shapes) add_products(cases, m, n, k, quick ? 1 : 4, choices);
}

/// Adds cases whose k is near the ends of the contract's segments.
void add_segments(std::vector<Case>& cases, bool quick) {
  constexpr Index s = canonical_segment;
  constexpr std::array<Index, 8> lengths{s - 1, s, s + 1, 2 * s - 1, 2 * s, 2 * s + 1, 3 * s + 100, 5 * s};
  Choices choices(4);
  for (const Index k : lengths) {
    add_products(cases, 5, 7, k, quick ? 1 : 2, choices);
    if (!quick) add_products(cases, 33, 19, k, 2, choices);
  }
  if (!quick) add_products(cases, 1, 1, 7 * s + 13, 4, choices);
}

/// Adds cases of few rows or columns and a long k, which kernels share out among blocks, and of sizes near tiles of 64
/// and 128.
void add_slender(std::vector<Case>& cases, bool quick) {
  constexpr std::array<std::array<Index, 3>, 8> shapes{{{3, 200, 1100},
                                                        {200, 3, 1100},
                                                        {64, 65, 700},
                                                        {65, 64, 700},
                                                        {60, 50, 2300},
                                                        {129, 193, 130},
                                                        {1, 2056, 200},
                                                        {1, 2049, 150}}};
  Choices choices(7);
  for (const auto& [m, n, k] : shapes) add_products(cases, m, n, k, quick ? 1 : 4, choices);
}

/// Adds cases of few columns or few rows, for which kernels turn the product around or transpose an operand on the way.
/// The last ones are larger than what kernels take for small.
void add_narrow(std::vector<Case>& cases, bool quick) {
  constexpr std::array<std::array<Index, 3>, 10> shapes{{{70, 4, 40},
                                                         {35, 6, 37},
                                                         {50, 8, 21},
                                                         {70, 9, 40},
                                                         {35, 12, 37},
                                                         {50, 13, 21},
                                                         {70, 24, 40},
                                                         {35, 33, 37},
                                                         {90, 11, canonical_segment + 70},
                                                         {8001, 7, 75}}};
  Choices choices(8);
  for (const auto& [many, few, k] : shapes) {
    add_products(cases, many, few, k, quick ? 1 : 4, choices);
    add_products(cases, few, many, k, quick ? 1 : 4, choices);
  }
}

void add_special_values(std::vector<Case>& cases, bool quick) {
  constexpr std::array<std::array<Index, 3>, 3> shapes{{{17, 19, 23}, {67, 71, 73}, {13, 11, canonical_segment + 9}}};
  Choices choices(6);
  for (const Values values : {Values::Integers, Values::Subnormal, Values::NonFinite})
    for (const auto& [m, n, k] : shapes) {
      const std::size_t first = cases.size();
      add_products(cases, m, n, k, quick ? 1 : 4, choices);
      for (std::size_t i = first; i < cases.size(); ++i) {
        cases[i].values = values;
        if (values == Values::Integers && std::abs(cases[i].alpha) != 1) cases[i].alpha = 1;
        if (values == Values::Integers && std::abs(cases[i].beta) != 1) cases[i].beta = 0;
      }
    }
}

std::vector<Case> thinned(std::vector<Case> cases, std::size_t every) {
  std::vector<Case> kept;
  for (std::size_t i = 0; i < cases.size(); i += every) kept.push_back(cases[i]);
  return kept;
}

} // namespace

std::ostream& operator<<(std::ostream& out, const Case& x) {
  const auto place = [&](const char* name, const Placement& p) {
    out << ' ' << name << "{+" << p.padding << (p.guard ? ", guarded" : "") << (p.misaligned ? ", misaligned" : "")
        << '}';
  };
  out << "m=" << x.m << " n=" << x.n << " k=" << x.k << " op_a=" << to_string(x.op_a) << " op_b=" << to_string(x.op_b)
      << " alpha=" << x.alpha << " beta=" << x.beta << " threads=" << x.threads;
  constexpr std::array<const char*, 4> words{"uniform", "integers", "subnormal", "non-finite"};
  out << ' ' << words[static_cast<std::size_t>(x.values)];
  place("a", x.a);
  place("b", x.b);
  place("c", x.c);
  return out;
}

std::vector<Case> shared_cases(bool quick, std::size_t every) {
  std::vector<Case> cases;
  add_small(cases, quick);
  add_combinations(cases, quick);
  add_shapes(cases, quick);
  add_segments(cases, quick);
  add_slender(cases, quick);
  add_narrow(cases, quick);
  add_special_values(cases, quick);
  return thinned(std::move(cases), every);
}

std::vector<Case> tile_cases(const Tile& tile, bool quick, std::size_t every) {
  std::vector<Case> cases;
  Choices choices(5);
  const bool large = std::min({tile.m, tile.n, tile.k}) > 256; // the least sizes of a recursion, which cost seconds
  for (Index i = -1; i <= 1; ++i)
    for (Index j = -1; j <= 1; ++j)
      for (Index p = -1; p <= 1; ++p) {
        if (quick && !(i == 1 && j == 1 && p == 1) && !(i == 0 && j == 0 && p == 0)) continue;
        if (large && std::min({i, j, p}) < 0 && std::max({i, j, p}) >= 0) continue; // below the least sizes once
        const auto near = [](int side, Index step) { return std::max<Index>((side > 0 ? side : 8) + step, 1); };
        add_products(cases, near(tile.m, i), near(tile.n, j), near(tile.k, p), 1, choices);
      }
  return thinned(std::move(cases), every);
}

} // namespace tessera::conformance
