/// What the micro-kernels' packing functions write: strips of rows of A and columns of B, of real and complex numbers,
/// of matrices that are stored as they are, transposed, as a triangle of a symmetric one, or that are triangles. Every
/// instruction set that this machine has is tested, and the vectors of AVX-512 on any machine.

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "cpu/gemm/common/microkernel.hpp"
#include "cpu/gemm/microkernels/packing.hpp"

using namespace tessera;
using namespace tessera::cpu;

namespace {

using PackedTypes = std::tuple<float, double>;

/// An operand, whose numbers are all different. NaN is wherever there is no number of it.
template <class T>
struct PackedOperand {
  Numbers numbers;
  Index lines, steps; ///< numbers; they are equal where the operand has a triangle
  bool along_k, is_conjugate;
  Shape shape;
  bool is_hermitian, has_unit_diagonal;
  Index ld = (along_k ? steps : lines) + 3;
  std::vector<T> memory = fill();

  Index parts() const { return numbers == Numbers::Real ? 1 : 2; }
  Index row(Index l, Index p) const { return along_k ? l : p; }
  Index column(Index l, Index p) const { return along_k ? p : l; }

  std::vector<T> fill() const {
    std::vector<T> filled(static_cast<std::size_t>((std::max(lines, steps) * ld + lines + steps) * parts()),
                          std::numeric_limits<T>::quiet_NaN());
    T next{1};
    for (Index l = 0; l < lines; ++l)
      for (Index p = 0; p < steps; ++p) {
        if (shape == Shape::FromLine ? p < l : shape != Shape::Whole && p > l) continue;
        if (has_unit_diagonal && l == p) continue;
        for (Index part = 0; part < parts(); ++part)
          if (!is_hermitian || part == 0 || l != p)
            filled[static_cast<std::size_t>((row(l, p) * ld + column(l, p)) * parts() + part)] = next++;
      }
    return filled;
  }
  Lines<T> as_lines() const {
    return {.data = memory.data(),
            .count = lines,
            .line_step = along_k ? ld : 1,
            .k_step = along_k ? 1 : ld,
            .numbers = numbers,
            .is_conjugate = is_conjugate,
            .shape = shape,
            .is_hermitian = is_hermitian,
            .has_unit_diagonal = has_unit_diagonal};
  }

  std::complex<T> number(Index l, Index p) const {
    if (has_unit_diagonal && l == p) return T{1};
    const bool turned = shape == Shape::Symmetric && p > l;
    const Index i = turned ? row(p, l) : row(l, p), j = turned ? column(p, l) : column(l, p);
    const auto at = static_cast<std::size_t>((i * ld + j) * parts());
    if (numbers == Numbers::Real) return memory[at];
    if (is_hermitian && l == p) return {memory[at], T{0}};
    return {memory[at], is_conjugate != (turned && is_hermitian) ? -memory[at + 1] : memory[at + 1]};
  }
  /// Element k of a line, counted in elements; zero beyond the operand and outside of its triangle.
  T element(Index line, Index k) const {
    const Index p = k / parts();
    if (line >= lines || (shape == Shape::FromLine ? p < line : shape == Shape::UpToLine && p > line)) return T{0};
    const std::complex<T> x = number(line, p);
    return k % parts() == 0 ? x.real() : x.imag();
  }
};

/// Packs the strips [first, last) from step k_first on, and compares all of them, and what follows them.
template <class T, class Pack>
void check_strips(const PackedOperand<T>& x, int width, Index first, Index last, Index k_first, Index k,
                  const Pack& pack) {
  constexpr T untouched{-77};
  const auto size = static_cast<std::size_t>((last - first) * width * k);
  std::vector<T> memory(size + 80, untouched);
  T* strips = memory.data();
  while (reinterpret_cast<std::uintptr_t>(strips) % 64 != 0) ++strips;
  const Lines<T> as_lines = x.as_lines();
  pack(as_lines, first, last, k_first, k, strips);
  Index wrong = 0;
  for (Index s = first; s < last; ++s)
    for (Index p = 0; p < k; ++p) {
      const bool is_read = k_first + p >= as_lines.first_step(s * width) &&
                           k_first + p < as_lines.last_step(s * width, width, x.steps * x.parts());
      for (int l = 0; l < width; ++l) {
        const T got = strips[((s - first) * k + p) * width + l];
        const T expected = is_read ? x.element(s * width + l, k_first + p) : untouched;
        wrong += !(got == expected && std::signbit(got) == std::signbit(expected));
      }
    }
  for (const T* after = strips + size; after < memory.data() + memory.size(); ++after) wrong += *after != untouched;
  BOOST_TEST(wrong == 0);
}

/// Packs operands of one kind of numbers in all ways.
template <class T, class Pack>
void check_packing(Numbers numbers, int width, const Pack& pack) {
  struct Kind {
    Shape shape;
    bool is_hermitian, has_unit_diagonal;
  };
  constexpr Kind kinds[] = {{Shape::Whole, false, false},    {Shape::Symmetric, false, false},
                            {Shape::Symmetric, true, false}, {Shape::UpToLine, false, false},
                            {Shape::UpToLine, false, true},  {Shape::FromLine, false, false},
                            {Shape::FromLine, false, true}};
  const bool is_complex = numbers != Numbers::Real;
  const Index parts = is_complex ? 2 : 1;
  for (const Index lines : {1, width, 3 * width + 1, 4 * width - 1})
    for (const Index steps : {1, 2, 7, 16, 39})
      for (const bool along_k : {false, true})
        for (const bool is_conjugate : {false, true})
          for (const Kind& kind : kinds) {
            if (!is_complex && (is_conjugate || kind.is_hermitian)) continue;
            const Index all_steps = kind.shape == Shape::Whole ? steps : lines;
            BOOST_TEST_CONTEXT("lines " << lines << ", steps " << all_steps << ", along k " << along_k << ", conjugate "
                                        << is_conjugate << ", kind " << (&kind - kinds) << ", numbers "
                                        << static_cast<int>(numbers)) {
              const PackedOperand<T> x{.numbers = numbers,
                                       .lines = lines,
                                       .steps = all_steps,
                                       .along_k = along_k,
                                       .is_conjugate = is_conjugate,
                                       .shape = kind.shape,
                                       .is_hermitian = kind.is_hermitian,
                                       .has_unit_diagonal = kind.has_unit_diagonal};
              const Index strips = (lines + width - 1) / width, k = all_steps * parts;
              check_strips(x, width, 0, strips, 0, k, pack);
              const Index later = all_steps / 3 * parts; // some strips, some steps
              check_strips(x, width, strips / 2, strips, later, k - later, pack);
              if (k > 3 * parts) check_strips(x, width, 0, 1, parts, k - 2 * parts, pack);
            }
          }
}

/// Vectors that are wider than the machine's need not be: the compiler cuts them.
template <int of_lanes>
struct WideVectors {
  static constexpr int lanes = of_lanes;
};

} // namespace

BOOST_AUTO_TEST_SUITE(packing)

BOOST_AUTO_TEST_CASE_TEMPLATE(strips, T, PackedTypes) {
  const Isa best = detect_isa();
  for (const Isa isa : known_isas()) {
    if (isa > best) continue;
    BOOST_TEST_CONTEXT(to_string(isa)) {
      const MicroKernel<T>& kernel = micro_kernel<T>(isa);
      for (const Numbers numbers : {Numbers::Real, Numbers::Pairs})
        check_packing<T>(numbers, kernel.tile_m, kernel.pack_a);
      check_packing<T>(Numbers::Real, kernel.tile_n, kernel.pack_b);
      if (kernel.of_complex == nullptr) continue;
      check_packing<T>(Numbers::Pairs, kernel.of_complex->tile_m, kernel.of_complex->pack_a);
      check_packing<T>(Numbers::Pairs, kernel.of_complex->tile_n / 2, kernel.of_complex->pack_b);
    }
  }
}

/// Complex numbers are packed by vectors of the compiler's own, which have the lanes of AVX-512 here.
BOOST_AUTO_TEST_CASE_TEMPLATE(wide_vectors, T, PackedTypes) {
  constexpr int lanes = 64 / sizeof(T);
  check_packing<T>(Numbers::Pairs, 14, Packing<WideVectors<lanes>, T, 14>::pack);
  check_packing<T>(Numbers::Pairs, lanes, Packing<WideVectors<lanes>, T, lanes>::pack);
}

BOOST_AUTO_TEST_SUITE_END()
