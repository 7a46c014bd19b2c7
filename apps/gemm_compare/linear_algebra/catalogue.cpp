#include "catalogue.hpp"

#include <algorithm>
#include <array>

namespace tessera::compare_app {
namespace {

constexpr std::array operations_of_systems{
    SystemOperation{SystemKind::Syrk, "syrk", "the lower triangle of A·Aᵀ"},
    SystemOperation{SystemKind::Herk, "herk", "the lower triangle of A·Aᴴ, of complex numbers"},
    SystemOperation{SystemKind::Trsm, "trsm", "L·X = B with a lower triangle and n right-hand sides"},
    SystemOperation{SystemKind::Potrf, "potrf", "Cholesky's factor of a symmetric positive definite matrix"},
    SystemOperation{SystemKind::Getrf, "getrf", "LU factors with partial pivoting"},
    SystemOperation{SystemKind::Geqrf, "geqrf", "QR factors by Householder's reflections"},
    SystemOperation{SystemKind::Posv, "posv", "A·x = b by Cholesky's factor"},
    SystemOperation{SystemKind::Gesv, "gesv", "A·x = b by LU factors"},
};

constexpr std::array types_of_systems{detail::NumberType(DType::F32), detail::NumberType(DType::F64),
                                      detail::NumberType(DType::F32, true), detail::NumberType(DType::F64, true)};

double real_flops(SystemKind kind, Index n) {
  const auto x = static_cast<double>(n);
  const double cube = x * x * x, solves = 2 * x * x;
  switch (kind) {
    case SystemKind::Syrk:
    case SystemKind::Herk:
    case SystemKind::Trsm:
      return cube;
    case SystemKind::Potrf:
      return cube / 3;
    case SystemKind::Getrf:
      return 2 * cube / 3;
    case SystemKind::Geqrf:
      return 4 * cube / 3;
    case SystemKind::Posv:
      return cube / 3 + solves;
    case SystemKind::Gesv:
      return 2 * cube / 3 + solves;
  }
  return 0;
}

} // namespace

double SystemOperation::flops(Index n, bool is_complex) const {
  constexpr double of_complex = 4;
  return real_flops(kind, n) * (is_complex ? of_complex : 1);
}

std::span<const detail::NumberType> system_types() { return types_of_systems; }

std::string_view name_of(detail::NumberType type) { return type.is_complex ? type.array_name() : to_string(type.part); }

std::span<const SystemOperation> system_operations() { return operations_of_systems; }

const SystemOperation* find_system_operation(std::string_view name) {
  const auto at = std::ranges::find(operations_of_systems, name, &SystemOperation::name);
  return at == operations_of_systems.end() ? nullptr : &*at;
}

} // namespace tessera::compare_app
