#pragma once

/// The ways in which an operation of linear algebra is computed: the textbook's loops, the library on a backend, and
/// the LAPACK of another library, or of a GPU's vendor.

#include <memory>
#include <string>
#include <vector>

#include <tessera/backend.hpp>
#include <tessera/types.hpp>

#include "cpu/gemm/cblas/cblas_library.hpp"
#include "problem.hpp"
#include "system_library.hpp"
#include "system_run.hpp"

namespace tessera::compare_app {

struct Way {
  std::string name;
  Backend backend = Backend::Reference;
  std::string summary;
  bool keeps_contract = false;
  std::shared_ptr<cpu::CblasLibrary> library = nullptr;    ///< of a library from outside
  std::shared_ptr<SystemLibrary> device_library = nullptr; ///< of one that computes real numbers on a GPU
  bool (*does)(SystemKind kind) = nullptr;                 ///< null: every operation that the type has

  bool is_from_outside() const { return library != nullptr || device_library != nullptr; }
  bool computes(SystemKind kind, bool of_complex) const {
    if (device_library != nullptr) return !of_complex && device_library->does(kind);
    return does == nullptr || does(kind);
  }
};

/// Returns the ways on this backend: textbook's first. Libraries from outside are the ones of TESSERA_CBLAS, which
/// belong to the first host backend with threads, and on CUDA cuSOLVER and cuBLAS.
std::vector<Way> ways_on(Backend backend, bool with_libraries);

/// Returns why a library from outside cannot compute it; "" if it can.
std::string problem_of(const Way& way, const SystemOperation& operation, detail::NumberType type);

/// Makes a run of the operation, on the executor of the way's backend, with so many threads of the host. The work's
/// memory was filled by columns for libraries from outside, else by rows. Throws Error where it cannot.
template <class T>
std::unique_ptr<SystemRun<T>> prepare(const Way& way, const SystemOperation& operation, const SystemData<T>& data,
                                      SystemWork<T>& work, Executor& executor, int threads);

} // namespace tessera::compare_app
