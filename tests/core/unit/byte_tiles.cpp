/// Tests the kernels of sums of products of bytes that this processor can run: all of them have the sums of plain
/// loops.

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <iostream>
#include <random>
#include <vector>

#include "cpu/gemm/int8_units/byte_tiles.hpp"

using namespace tessera;
using namespace tessera::cpu::int8_units;

namespace {

/// Returns the kernels for instructions that this processor has.
std::vector<const ByteKernel*> kernels() {
  std::vector<const ByteKernel*> all{&portable_bytes};
#if defined(__x86_64__)
  const cpu::Isa best = cpu::detect_isa();
  if (best != cpu::Isa::Portable) all.push_back(&avx2_bytes);
  if (best == cpu::Isa::Avx512 && cpu::has_vnni()) all.push_back(&vnni_bytes);
  if (best == cpu::Isa::Avx512 && cpu::has_int8_tiles()) all.push_back(&amx_bytes);
#endif
  return all;
}

/// The lines of an operand, and their tiles.
struct Operand {
  std::vector<std::uint8_t> lines, tiles;
  Index k;

  Operand(Index count, Index tiles_k, bool in_quads, std::mt19937& random)
      : lines(static_cast<std::size_t>(count * tiles_k * tile_k)), tiles(lines.size()), k(tiles_k * tile_k) {
    for (std::uint8_t& x : lines) x = static_cast<std::uint8_t>(random());
    for (Index i = 0; i < count; ++i)
      for (Index p = 0; p < k; ++p) {
        const Index tile = (i / tile_lines * tiles_k + p / tile_k) * tile_bytes, line = i % tile_lines, at = p % tile_k;
        const Index place = in_quads ? (at / 4 * tile_lines + line) * 4 + at % 4 : line * tile_k + at;
        tiles[static_cast<std::size_t>(tile + place)] = lines[static_cast<std::size_t>(i * k + p)];
      }
  }
  Run run(Index count, Index tiles_k) const { return {tiles.data(), tiles_k, count / tile_lines}; }
};

} // namespace

BOOST_AUTO_TEST_SUITE(byte_tiles)

BOOST_AUTO_TEST_CASE(all_kernels_have_the_sums_of_plain_loops) {
  for (const ByteKernel* kernel : kernels()) {
    std::cout << "bytes by " << kernel->name << '\n';
    std::mt19937 random(5);
    for (const Index rows : {16, 32, 48, 80})
      for (const Index cols : {16, 48, 64})
        for (const Index tiles : {Index{1}, Index{3}, run_tiles}) {
          const Operand a(rows, tiles, false, random), b(cols, tiles, kernel->b_in_quads, random);
          const Index ld = cols + 16;
          std::vector<std::int32_t> sums(static_cast<std::size_t>(rows * ld), 7);
          const Ahead ahead{a.tiles.data(), b.tiles.data(), rows * tiles * tile_k, cols * tiles * tile_k};
          for (const bool first : {true, false}) // the second time the products are added
            kernel->multiply(a.run(rows, tiles), b.run(cols, tiles), {sums.data(), ld, rows, cols}, first, ahead);
          Index wrong = 0;
          for (Index i = 0; i < rows; ++i)
            for (Index j = 0; j < ld; ++j) {
              std::int32_t expected = j < cols ? 0 : 7; // what is between rows stays
              for (Index p = 0; j < cols && p < a.k; ++p)
                expected += 2 * std::int32_t{a.lines[static_cast<std::size_t>(i * a.k + p)]} *
                            static_cast<std::int8_t>(b.lines[static_cast<std::size_t>(j * b.k + p)]);
              wrong += sums[static_cast<std::size_t>(i * ld + j)] == expected ? 0 : 1;
            }
          BOOST_TEST(wrong == 0,
                     kernel->name << ": " << wrong << " sums of " << rows << "×" << cols << ", " << tiles << " tiles");
        }
  }
}

BOOST_AUTO_TEST_SUITE_END()
