#pragma once

/// The backends that this process can use, and the reasons why it cannot use the others.
///
///     Backend mine = parse_backend("mine");     // a built-in one, or libtessera_mine.so; or throws with the reason
///     Matrix c = gemm(a, b, mine);              // to_string(mine) == "mine"
///
/// The set of backends is open: a plug-in libtessera_<name>.so of another name gets a Backend value of its own, which
/// holds for this process (<tessera/backend/plugin.hpp>). Backend::Auto is the backend that TESSERA_BACKEND names; else
/// a device for a product that was measured to be faster there (offload.hpp), and on the host the first backend in host
/// memory that the program named; else the available backend with the largest preference. docs/cpp.md ("The backend
/// from the command line") has the details. A matrix whose newest copy is on a device stays there for what takes no
/// backend. Under Math::Strict no choice changes a bit.
///
/// All functions may be called from several threads at once.

#include <span>
#include <string>
#include <vector>

#include <tessera/backend_list.hpp>
#include <tessera/executor.hpp>
#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// A backend, and whether this process can use it.
struct BackendInfo {
  Backend backend = Backend::Reference; ///< the backend
  bool built = false;                   ///< a plug-in of this name was found and loaded
  bool available = false;               ///< an executor can be had
  std::string reason;                   ///< why not, and what to do about it; empty if available
  std::string path;             ///< the plug-in's file; empty for the reference backend, or where none was found
  Memory memory = Memory::Host; ///< whose memory its operands are in; Host even where the plug-in could not be loaded
  bool serves_auto = true; ///< false where its plug-in keeps the device from Auto, as for a processor through OpenCL
};

/// Returns every backend that this process knows, in ascending order of the values: the built-in ones, the plug-ins in
/// the folders of TESSERA_PLUGIN_PATH, and the plug-ins that parse_backend() found. Loads the plug-ins in
/// TESSERA_PLUGIN_PATH that are not built in, but makes no executor.
TESSERA_API std::vector<Backend> known_backends();

/// Returns the backends of known_backends() in the order of preference; backends that Auto never takes come last. Loads
/// every plug-in and makes every executor to find out which are available.
TESSERA_API std::vector<BackendInfo> available_backends();

/// Returns the device, the threads and what else there is to know of a backend; null where it is not available. It
/// makes the executor, but is a question and no choice of the backend for Backend::Auto. Throws InvalidArgument for
/// Auto and for a value that is no backend, and OutOfMemory as executor() does.
TESSERA_API const Capabilities* capabilities_of(Backend backend);

/// Says whose memory the operands of a backend are in, without making its executor. Throws InvalidArgument for Auto and
/// for a value that is no backend.
TESSERA_API Memory memory_of(Backend backend);

/// Returns the process-wide executor of a backend, which is made on first use and kept until the process ends. For Auto
/// it is the one of the backend that the top of this header describes: the device's, where there is one. A program that
/// calls it first with the backend that it was told has everything served by it. Throws BackendUnavailable with the
/// reason, and InvalidArgument where TESSERA_BACKEND is no backend. Throws OutOfMemory where memory was too short to
/// load the plug-in or to make the executor; the next call tries again. So do the other functions here.
TESSERA_API Executor& executor(Backend backend);

/// Returns the process-wide executor of one device of a backend with devices, such as a GPU; `device` counts from 0 as
/// the backend does. It is made on first use and kept until the process ends. executor(backend) is one of them: the one
/// of the device that the backend chooses itself. Throws what executor(backend) throws: BackendUnavailable also where
/// there is no such device. Throws InvalidArgument for Auto, a negative number, and a backend in host memory, which has
/// one executor.
///
/// With `copy` > 0 it is a further executor of the device, with memory and queues of its own: two threads can each have
/// one and need not share a default queue.
TESSERA_API Executor& executor(Backend backend, int device, int copy = 0);

/// Returns the kernels of a backend's ladder of products, even where the plug-in finds no device; none where the
/// plug-in is missing.
TESSERA_API std::span<const GemmKernel> gemm_kernels(Backend backend);
/// Returns the kernels of a backend's ladder of reductions, even where the plug-in finds no device; none where it is
/// missing.
TESSERA_API std::span<const ReduceKernel> reduce_kernels(Backend backend);

/// Returns the number of threads that CPU executors use by default: TESSERA_NUM_THREADS, then OMP_NUM_THREADS, then the
/// process's affinity and cgroup quota. The affinity is the one at the start of the process where the environment makes
/// OpenMP bind threads. Throws InvalidArgument if the first of them that is set is not a number ≥ 1;
/// under the BLAS drop-in such a variable is passed over with a warning on stderr.
TESSERA_API int default_threads();

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
