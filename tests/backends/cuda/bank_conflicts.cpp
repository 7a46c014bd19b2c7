/// Counts the bank conflicts of the GEMM rungs on the host, from the layouts that the kernels use.
///
/// Shared memory has 32 banks of 4 bytes. A warp's access is served in phases of 128 bytes (all lanes of a 32-bit
/// access, 16 of a 64-bit access, 8 of a 128-bit access). A phase takes as many wavefronts as the busiest bank has
/// different words. Every wavefront beyond one for each phase is a conflict, which is what ncu counts.

#define BOOST_TEST_MODULE cuda_bank_conflicts
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>

#include "cuda/gemm/common/shared_layout.hpp"

namespace {

using tessera::cuda::padded;
using tessera::cuda::Place;
using tessera::cuda::row_order;
using tessera::cuda::Vector;
using tessera::cuda::z_curve;

constexpr int lanes = 32;
constexpr int banks = 32;

/// Returns the conflicts of one access, in which lane l touches `count` elements of type T from element offset(l) on.
template <class T, class Offset>
int conflicts(int count, Offset offset) {
  const int words_per_element = static_cast<int>(sizeof(T)) / 4;
  const int words = count * words_per_element;
  const int lanes_per_phase = banks / words;
  int wavefronts = 0;
  for (int first = 0; first < lanes; first += lanes_per_phase) {
    std::map<int, std::set<int>> words_of_bank;
    for (int lane = first; lane < first + lanes_per_phase; ++lane)
      for (int w = 0; w < words; ++w) {
        const int word = offset(lane) * words_per_element + w;
        words_of_bank[word % banks].insert(word);
      }
    std::size_t most = 0;
    for (const auto& [bank, different] : words_of_bank) most = std::max(most, different.size());
    wavefronts += static_cast<int>(most);
  }
  return wavefronts - words;
}

/// Describes what float4 and the rungs after it share: 256 threads, 32 bytes of rows and of columns for a thread, and
/// tiles of 8 k.
template <class T>
struct Tile {
  static constexpr int width = Vector<T>::width;
  static constexpr int side = 32 / sizeof(T);
  static constexpr int tile = 16 * side;
  static constexpr int depth = 8;

  /// TileLoader's store of element e of its vector, transposed to [k][outer].
  static int transposing_store(int e, int ld) {
    return conflicts<T>(1, [&](int lane) {
      const Place at = row_order(lane, depth / width);
      return (at.across * width + e) * ld + at.down;
    });
  }
  static int vector_store(int ld) {
    return conflicts<T>(width, [&](int lane) {
      const Place at = row_order(lane, tile / width);
      return at.down * ld + at.across * width;
    });
  }
  /// The load of vector v of a thread's rows of A, or of its columns of B.
  template <class Order>
  static int load_a(int v, Order order) {
    return conflicts<T>(width, [&](int lane) { return order(lane).down * side + v * width; });
  }
  template <class Order>
  static int load_b(int v, Order order) {
    return conflicts<T>(width, [&](int lane) { return order(lane).across * side + v * width; });
  }
};

Place by_rows(int lane) { return row_order(lane, 16); }

} // namespace

BOOST_AUTO_TEST_SUITE(bank_conflicts)

BOOST_AUTO_TEST_CASE(the_count_itself) {
  BOOST_TEST(conflicts<float>(1, [](int lane) { return lane; }) == 0);
  BOOST_TEST(conflicts<float>(1, [](int) { return 7; }) == 0); // a broadcast
  BOOST_TEST(conflicts<float>(1, [](int lane) { return 2 * lane; }) == 1);
  BOOST_TEST(conflicts<float>(1, [](int lane) { return 32 * lane; }) == 31);
  BOOST_TEST(conflicts<float>(4, [](int lane) { return 4 * lane; }) == 0);
  BOOST_TEST(conflicts<float>(4, [](int lane) { return 8 * lane; }) == 4);
  BOOST_TEST(conflicts<double>(1, [](int lane) { return lane; }) == 0);
}

using Types = boost::mpl::list<float, double>;

BOOST_AUTO_TEST_CASE_TEMPLATE(float4_has_conflicts_on_stores_and_loads, T, Types) {
  using S = Tile<T>;
  for (int e = 0; e < S::width; ++e) BOOST_TEST(S::transposing_store(e, S::tile) == (sizeof(T) == 4 ? 1 : 6));
  BOOST_TEST(S::vector_store(S::tile) == 0);
  for (int v = 0; v < S::side / S::width; ++v) {
    BOOST_TEST(S::load_a(v, by_rows) == 0);
    BOOST_TEST(S::load_b(v, by_rows) == 4);
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(conflict_free_has_none_on_stores, T, Types) {
  using S = Tile<T>;
  for (int e = 0; e < S::width; ++e) BOOST_TEST(S::transposing_store(e, padded<T>(S::tile)) == 0);
  BOOST_TEST(S::vector_store(padded<T>(S::tile)) == 0);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(z_order_has_none_at_all, T, Types) {
  using S = Tile<T>;
  for (int v = 0; v < S::side / S::width; ++v) {
    BOOST_TEST(S::load_a(v, z_curve) == 0);
    BOOST_TEST(S::load_b(v, z_curve) == 0);
  }
}

BOOST_AUTO_TEST_CASE(the_z_curve_visits_each_place_once) {
  std::set<std::array<int, 2>> places;
  for (int lane = 0; lane < lanes; ++lane) {
    const Place at = z_curve(lane);
    BOOST_TEST((at.down >= 0 && at.down < 4 && at.across >= 0 && at.across < 8));
    places.insert({at.down, at.across});
  }
  BOOST_TEST(places.size() == 32U);
}

/// warp_tile and async_copy have lanes 4×8, and vectors lane after lane; async_copy transposes element by element.
BOOST_AUTO_TEST_CASE_TEMPLATE(warp_tiles_have_none, T, Types) {
  constexpr int width = Vector<T>::width;
  BOOST_TEST(conflicts<T>(width, [](int lane) { return row_order(lane, 8).down * width; }) == 0);
  BOOST_TEST(conflicts<T>(width, [](int lane) { return row_order(lane, 8).across * width; }) == 0);
  const int ld = padded<T>(sizeof(T) == 4 ? 128 : 64);
  for (int e = 0; e < width; ++e) BOOST_TEST(Tile<T>::transposing_store(e, ld) == 0);
  const auto element = [&](int lane) { return row_order(lane, 8).across * ld + row_order(lane, 8).down; };
  BOOST_TEST(conflicts<T>(1, element) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
