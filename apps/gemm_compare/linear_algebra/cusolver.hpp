#pragma once

/// Factorisations and systems of NVIDIA's cuSOLVER, by its C interface for dense matrices on one GPU.

#include <memory>
#include <string>

#include <tessera/linear_algebra/options.hpp>

#include "device_library.hpp"
#include "problem.hpp"
#include "system_run.hpp"

namespace tessera::compare_app::cusolver {

/// Returns the library, which is not opened yet: TESSERA_CUSOLVER, or else libcusolver.so.12 or .11.
std::shared_ptr<DeviceLibrary> library();
/// Does it have potrf, getrf, geqrf, posv or gesv, whichever this is?
bool does(SystemKind kind);
/// Returns why the library cannot compute it; "" if it can.
std::string problem_of(DeviceLibrary& library, SystemKind kind, DType type);

/// Brings the work's memory, which was filled by columns, to the device, and takes the library's working memory there.
/// fetch() throws Error with the library's info.
template <detail::Real T>
std::unique_ptr<SystemRun<T>> prepare(DeviceLibrary& library, SystemKind kind, const SystemData<T>& data,
                                      SystemWork<T>& work, Executor& executor);

} // namespace tessera::compare_app::cusolver
