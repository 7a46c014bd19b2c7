/// The words and the counts of products that verify themselves.

#include <array>
#include <atomic>
#include <string>

#include <tessera/gemm.hpp>
#include <tessera/status.hpp>

#include "core/base/unknown_word.hpp"
#include "verified.hpp"

namespace tessera {
namespace {

constexpr std::array<std::string_view, 3> words{"none", "detect", "repair"};

std::atomic<std::uint64_t> products, wrong_products, repaired, repaired_rows, repaired_elements;

} // namespace

std::string_view to_string(Verify verify) noexcept { return words[static_cast<std::size_t>(verify)]; }

Verify parse_verify(std::string_view word) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == word) return static_cast<Verify>(i);
  throw InvalidArgument(unknown_word("verification", word, {words.begin(), words.end()}));
}

VerifyCounts verify_counts() noexcept {
  return {.products = products,
          .wrong = wrong_products,
          .repaired = repaired,
          .repaired_rows = repaired_rows,
          .repaired_elements = repaired_elements};
}

void detail::count_verified(const VerifyCounts& more) noexcept {
  products += more.products;
  wrong_products += more.wrong;
  repaired += more.repaired;
  repaired_rows += more.repaired_rows;
  repaired_elements += more.repaired_elements;
}

} // namespace tessera
