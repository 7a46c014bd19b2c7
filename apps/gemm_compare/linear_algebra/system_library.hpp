#pragma once

/// What NVIDIA's libraries compute of linear algebra with real numbers on a GPU: systems and factors by cuSOLVER,
/// triangular systems and products with a transpose by cuBLAS. Both are called by their C interfaces.

#include <memory>
#include <string>
#include <vector>

#include "device_library.hpp"
#include "problem.hpp"
#include "system_run.hpp"

namespace tessera::compare_app {

class SystemLibrary {
 public:
  /// A library that is not opened yet.
  explicit SystemLibrary(const DeviceLibrary::Names& names) : library_(names) {}
  virtual ~SystemLibrary() = default;
  SystemLibrary(const SystemLibrary&) = delete;
  SystemLibrary& operator=(const SystemLibrary&) = delete;

  /// Does the library have the operation?
  bool does(SystemKind kind) const { return !functions_of(kind, DType::F32).empty(); }
  /// Returns why it cannot compute it; "" if it can. Opens the library.
  std::string problem_of(SystemKind kind, DType type) { return library_.problem_with(functions_of(kind, type)); }

  /// Brings the work's memory, which was filled by columns, and the data that the operation reads to the device, and
  /// takes the library's working memory there. The run's fetch() throws Error where the library says that it failed.
  virtual std::unique_ptr<SystemRun<float>> prepare(SystemKind kind, const SystemData<float>& data,
                                                    SystemWork<float>& work, Executor& executor) = 0;
  /// Does it in f64.
  virtual std::unique_ptr<SystemRun<double>> prepare(SystemKind kind, const SystemData<double>& data,
                                                     SystemWork<double>& work, Executor& executor) = 0;

 protected:
  DeviceLibrary& library() { return library_; }

 private:
  /// Returns the functions of the library that the operation calls; none if it does not have the operation.
  virtual std::vector<std::string> functions_of(SystemKind kind, DType type) const = 0;

  DeviceLibrary library_;
};

/// Returns cuSOLVER: the file TESSERA_CUSOLVER, or else libcusolver.so.12 or .11.
std::shared_ptr<SystemLibrary> cusolver();
/// Returns cuBLAS: the file TESSERA_CUBLAS, or else libcublas.so.13 or .12.
std::shared_ptr<SystemLibrary> cublas();

} // namespace tessera::compare_app
