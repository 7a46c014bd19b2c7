/// The words of a certificate: types, verdicts, diagnoses.

#include <algorithm>
#include <array>

#include <tessera/checking/check.hpp>
#include <tessera/detail/type_words.hpp>
#include <tessera/status.hpp>

#include "core/matrix/operand.hpp"

namespace tessera {
namespace {

constexpr auto checked_type_list = [] {
  std::array<CheckedTypeInfo, known_types.size()> list{};
  for (std::size_t i = 0; i < list.size(); ++i) {
    const ElementType& facts = known_types.facts[i];
    list[i] = {static_cast<CheckedType>(facts.type), facts.name, facts.array_name, facts.bytes};
  }
  return list;
}();

// Programs have these numbers compiled in. Each is the number of the DType of this name.
static_assert(static_cast<int>(CheckedType::F32) == 0 && static_cast<int>(CheckedType::F64) == 1);
static_assert(static_cast<int>(CheckedType::F16) == 2 && static_cast<int>(CheckedType::BF16) == 3);
static_assert(static_cast<int>(CheckedType::E4M3) == 4 && static_cast<int>(CheckedType::E5M2) == 5);
static_assert(static_cast<int>(CheckedType::I8) == 6 && static_cast<int>(CheckedType::I32) == 64);

constexpr std::array<std::string_view, 15> diagnoses{
    "not_written",   "stale",           "beta_ignored",     "added_to_c",       "transposed_a",
    "transposed_b",  "transposed_both", "transposed_c",     "missing_tail",     "factor",
    "low_precision", "missing_bias",    "missing_residual", "other_activation", "non_finite"};

} // namespace

std::span<const CheckedTypeInfo> checked_types() noexcept { return checked_type_list; }

const CheckedTypeInfo& checked_type(CheckedType type) {
  for (const CheckedTypeInfo& info : checked_type_list)
    if (info.type == type) return info;
  throw InvalidArgument("check: unknown element type " + std::to_string(static_cast<int>(type)) + "; use " +
                        detail::type_words(known_types, &ElementType::name, "or"));
}

CheckedType parse_checked_type(std::string_view word) {
  std::vector<std::string> names;
  for (const CheckedTypeInfo& info : checked_type_list) {
    if (word == info.name || word == info.array_name) return info.type;
    names.emplace_back(info.name);
    names.emplace_back(info.array_name);
  }
  if (word.starts_with("complex"))
    throw InvalidArgument("check: elements of type " + std::string(word) +
                          "; there is no reference of complex products: check their real and imaginary parts");
  throw InvalidArgument("check: unknown element type '" + std::string(word) + "'; did you mean " +
                        nearest_word(word, names) + "?");
}

std::string_view to_string(Verdict verdict) noexcept {
  return verdict == Verdict::Right ? "right" : verdict == Verdict::Wrong ? "wrong" : "unknown";
}

std::string_view to_string(Diagnosis diagnosis) noexcept {
  const auto place = static_cast<std::size_t>(diagnosis);
  return place < diagnoses.size() ? diagnoses[place] : "?";
}

CheckedMatrix moved(const CheckedMatrix& first, Index stride, Index index) {
  CheckedMatrix there = first;
  if (there.data != nullptr)
    there.data =
        static_cast<const char*>(there.data) + stride * index * static_cast<Index>(checked_type(first.type).bytes);
  return there;
}

CheckedMatrix detail::checked_operand(const Operand& operand) {
  CheckedMatrix x{static_cast<CheckedType>(operand.storage->type()),
                  nullptr,
                  operand.rows,
                  operand.cols,
                  operand.storage->ld(),
                  operand.op};
  if (operand.rows == 0 || operand.cols == 0) return x;
  const Placed first = place_of(operand, {const_cast<void*>(operand.storage->host_read()), operand.storage->ld()});
  x.data = first.data;
  return x;
}

} // namespace tessera
