#include "catalogue.hpp"

#include <algorithm>
#include <array>

namespace tessera::compare_app {
namespace {

constexpr std::array operations_of_systems{
    SystemOperation{SystemKind::Syrk, "syrk", "the lower triangle of A·Aᵀ"},
    SystemOperation{SystemKind::Trsm, "trsm", "L·X = B with a lower triangle and n right-hand sides"},
    SystemOperation{SystemKind::Potrf, "potrf", "Cholesky's factor of a symmetric positive definite matrix"},
    SystemOperation{SystemKind::Getrf, "getrf", "LU factors with partial pivoting"},
    SystemOperation{SystemKind::Geqrf, "geqrf", "QR factors by Householder's reflections"},
    SystemOperation{SystemKind::Posv, "posv", "A·x = b by Cholesky's factor"},
    SystemOperation{SystemKind::Gesv, "gesv", "A·x = b by LU factors"},
};

} // namespace

double SystemOperation::flops(Index n) const {
  const auto x = static_cast<double>(n);
  const double cube = x * x * x, solves = 2 * x * x;
  switch (kind) {
    case SystemKind::Syrk:
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

std::span<const SystemOperation> system_operations() { return operations_of_systems; }

const SystemOperation* find_system_operation(std::string_view name) {
  const auto at = std::ranges::find(operations_of_systems, name, &SystemOperation::name);
  return at == operations_of_systems.end() ? nullptr : &*at;
}

} // namespace tessera::compare_app
