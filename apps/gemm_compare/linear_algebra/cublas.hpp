#pragma once

/// Triangular systems and products with a transpose of NVIDIA's cuBLAS, by its C interface.

#include <memory>
#include <string>

#include <tessera/linear_algebra/options.hpp>

#include "device_library.hpp"
#include "problem.hpp"
#include "system_run.hpp"

namespace tessera::compare_app::cublas {

/// Returns the library, which is not opened yet: TESSERA_CUBLAS, or else libcublas.so.13 or .12.
std::shared_ptr<DeviceLibrary> library();
/// Is it syrk or trsm?
bool does(SystemKind kind);
/// Returns why the library cannot compute it; "" if it can.
std::string problem_of(DeviceLibrary& library, SystemKind kind, DType type);

/// Brings the work's memory, which was filled by columns, and the data that the operation reads to the device.
template <detail::Real T>
std::unique_ptr<SystemRun<T>> prepare(DeviceLibrary& library, SystemKind kind, const SystemData<T>& data,
                                      SystemWork<T>& work, Executor& executor);

} // namespace tessera::compare_app::cublas
