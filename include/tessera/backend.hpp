#pragma once

/// The backends that this process can use, and the reasons why it cannot use the others.
///
/// The set of backends is open. A plug-in libtessera_<name>.so whose name is not in built_in_backends is found where
/// the built-in ones are (see <tessera/backend/plugin.hpp>) and gets a Backend value of its own, which holds for this
/// process:
///
///     Backend mine = parse_backend("mine");     // finds libtessera_mine.so, or throws with the reason
///     Matrix c = gemm(a, b, mine);              // to_string(mine) == "mine"
///
/// What Backend::Auto stands for, in products, batches, queues and executors, and in all that takes no backend, such as
/// random numbers, fill, transpose, axpby, scale, norms and copies:
///
///   - The backend that the environment variable TESSERA_BACKEND names, if it names one. Nothing falls back from it: a
///     word that is no backend is InvalidArgument, and a backend that cannot be used is BackendUnavailable. A device
///     takes products, batches, queues and executors; on the host stays what takes no backend, as without the variable.
///   - Else the device for a product that was measured to be faster there (offload.hpp), and on the host the first
///     backend in host memory that the program named: to executor(), to a queue or to a product. So one runtime's
///     threads serve all. The reference, which has no threads, is no such choice; nor is a backend that Auto never
///     takes, nor a question for ladders, reasons and capabilities_of().
///   - Else, as long as the program has named none, the available backend with the largest preference.
///
/// A matrix whose newest copy is on a device stays there for what takes no backend. Under Math::Strict no choice
/// changes a bit.
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
  Memory memory = Memory::Host; ///< whose memory its operands are in; Host also where the plug-in could not be loaded
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

/// Returns the process-wide executor of one device of a backend with devices, such as a card; `device` counts from 0 as
/// the backend does. It is made on first use and kept until the process ends. executor(backend) is one of them: the one
/// of the device that the backend chooses itself. Throws what executor(backend) throws: BackendUnavailable also where
/// there is no such device. Throws InvalidArgument for Auto, a negative number, and a backend in host memory, which has
/// one executor.
///
/// With `copy` > 0 it is a further executor of the device, with memory and queues of its own: two threads can each have
/// one and need not share a default queue.
TESSERA_API Executor& executor(Backend backend, int device, int copy = 0);

/// Returns the rows of a backend's ladder of products, also where the plug-in finds no device; none where the plug-in
/// is missing.
TESSERA_API std::span<const GemmKernel> gemm_kernels(Backend backend);
/// Returns the rows of a backend's ladder of reductions, also where the plug-in finds no device; none where it is
/// missing.
TESSERA_API std::span<const ReduceKernel> reduce_kernels(Backend backend);

/// Returns the number of threads that CPU executors use by default: TESSERA_NUM_THREADS, then OMP_NUM_THREADS, then the
/// process's affinity and cgroup quota. The affinity is the one at the start of the process where the environment makes
/// OpenMP bind threads. Throws InvalidArgument if the first of them that is set is not a number ≥ 1;
/// under the BLAS drop-in such a variable is passed over with a warning on stderr.
TESSERA_API int default_threads();

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
