#pragma once

/// The backend under test and the reference, against which it is measured.

#include <tessera/backend.hpp>
#include <tessera/detail/matrix_unit_contract.hpp>
#include <tessera/executor.hpp>

namespace tessera::conformance {

struct Options {
  Backend backend = Backend::Reference;
  bool quick = false;    ///< runs a reduced set of cases, for slow tools
  std::size_t every = 1; ///< runs only every n-th product, for still slower tools
};

/// Reads what follows "--" on the command line. Throws InvalidArgument.
Options parse_options(int argc, char** argv);

/// Says whether TESSERA_REQUIRE, a list of names separated by commas, names the backend.
bool required(Backend backend);

/// Sets the options. It is called once, before any test runs.
void choose(const Options& options);
const Options& options();

Executor& subject();
Executor& reference();

/// A kernel of the reference that is a numerical contract as code, and the mode that it computes in.
struct KernelContract {
  const char* name;
  Math math;
};
/// Returns the reference's kernel that has the bits of a kernel with a contract.
inline KernelContract contract_of(const GemmKernel& kernel) {
  if (kernel.summation == Summation::HopperUnits) return {"hopper_units", kernel.math};
  if (kernel.summation == Summation::WholeNumbers) return {"int8_units", kernel.math};
  return {"canonical", Math::Strict};
}

/// Is the kernel the reference's model of a mode itself, which would be compared with itself at some expense?
inline bool is_own_contract(const GemmKernel& kernel) {
  return has_contract_of_mode(kernel.summation) && options().backend == Backend::Reference;
}

/// Returns how many products the reference's kernel adds for one of the operands.
inline int products_of_model(const GemmKernel& kernel) {
  using namespace detail::hopper;
  return is_emulated(kernel.math) ? emulation_of(kernel.math).count : 1;
}

} // namespace tessera::conformance
