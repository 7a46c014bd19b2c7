#include <tessera/types.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include <tessera/backend/kernel_abi.h>
#include <tessera/tessera.h>
#include <tessera/detail/type_words.hpp>
#include <tessera/status.hpp>

#include "unknown_word.hpp"

namespace tessera {
namespace {

template <class E, std::size_t N>
using Words = std::array<std::pair<E, std::string_view>, N>;

constexpr Words<DType, element_types.size()> dtype_words = [] {
  Words<DType, element_types.size()> words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = {element_types.facts[i].type, element_types.facts[i].name};
  return words;
}();

// Programs have these numbers compiled in.
static_assert(static_cast<int>(DType::F32) == 0 && static_cast<int>(DType::F64) == 1);
static_assert(static_cast<int>(DType::F16) == 2 && static_cast<int>(DType::BF16) == 3);
static_assert(static_cast<int>(DType::E4M3) == 4 && static_cast<int>(DType::E5M2) == 5);
static_assert(static_cast<int>(DType::I8) == 6 && static_cast<int>(DType::I32) == 64);
static_assert(TESSERA_AS_OPERANDS == -1 && TESSERA_F32 == 0 && TESSERA_F64 == 1);
static_assert(TESSERA_FLOAT16 == 2 && TESSERA_BFLOAT16 == 3);
static_assert(TESSERA_CHECKED_F32 == 0 && TESSERA_CHECKED_F64 == 1 && TESSERA_CHECKED_FLOAT16 == 2);
static_assert(TESSERA_CHECKED_BFLOAT16 == 3 && TESSERA_CHECKED_E4M3 == 4 && TESSERA_CHECKED_E5M2 == 5);
static_assert(TESSERA_CHECKED_I8 == 6 && TESSERA_CHECKED_I32 == 64);
static_assert(TESSERA_KERNEL_F32 == 0 && TESSERA_KERNEL_F64 == 1 && TESSERA_KERNEL_F16 == 2);
static_assert(TESSERA_KERNEL_BF16 == 3 && TESSERA_KERNEL_I8 == 4);

constexpr Words<Math, static_cast<std::size_t>(last_math) + 1> math_words{{{Math::Strict, "strict"},
                                                                           {Math::Tf32, "tf32"},
                                                                           {Math::Bf16, "bf16"},
                                                                           {Math::Fp16, "fp16"},
                                                                           {Math::EmulatedFp16x3, "emulated_fp16x3"},
                                                                           {Math::EmulatedBf16x6, "emulated_bf16x6"},
                                                                           {Math::Compensated, "compensated"},
                                                                           {Math::Strassen, "strassen"},
                                                                           {Math::ScaledFp16, "scaled_fp16"},
                                                                           {Math::Int8Units, "int8_units"}}};
constexpr Words<Op, 3> op_words{
    {{Op::None, "none"}, {Op::Transpose, "transpose"}, {Op::ConjugateTranspose, "conjugate_transpose"}}};

template <class E, std::size_t N>
std::string_view word_of(const Words<E, N>& words, E value) noexcept {
  for (const auto& [candidate, word] : words)
    if (candidate == value) return word;
  return "unknown";
}

template <class E, std::size_t N>
E parse(const Words<E, N>& words, std::string_view word, std::string_view what) {
  std::vector<std::string> known;
  for (const auto& [value, candidate] : words) {
    if (candidate == word) return value;
    known.emplace_back(candidate);
  }
  throw InvalidArgument(unknown_word(what, word, known));
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

} // namespace

std::string_view to_string(DType type) noexcept { return is_known_type(type) ? element_type(type).name : "unknown"; }
std::string_view to_string(Math math) noexcept { return word_of(math_words, math); }
std::string_view to_string(Op op) noexcept { return word_of(op_words, op); }

DType parse_dtype(std::string_view word) {
  for (const ElementType& type : known_types)
    if (word == type.name && !is_element_type(type.type))
      throw InvalidArgument("element type '" + std::string(word) + "' is " + std::string(type.what) +
                            "; matrices have " + detail::type_words(element_types, &ElementType::name, "or"));
  return parse(dtype_words, word, "element type");
}
Math parse_math(std::string_view word) { return parse(math_words, word, "math mode"); }

std::string unknown_word(std::string_view what, std::string_view word, const std::vector<std::string>& known) {
  std::string why = "unknown " + std::string(what) + " '" + std::string(word) + "'; did you mean '" +
                    nearest_word(word, known) + "'? Known:";
  for (const std::string& candidate : known) why += " " + candidate;
  return why;
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates) {
  const auto nearest = std::min_element(candidates.begin(), candidates.end(), [&](const auto& x, const auto& y) {
    return edit_distance(word, x) < edit_distance(word, y);
  });
  return nearest == candidates.end() ? std::string{} : *nearest;
}

} // namespace tessera
