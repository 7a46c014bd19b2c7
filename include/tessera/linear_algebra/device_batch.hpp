#pragma once

/// Many small systems that are in a device's memory already: enqueued, and not waited for.
///
///     Executor& cuda = executor(Backend::Cuda);
///     SystemsCall systems{.task = SystemsTask::Solve, .columns = 1, .count = 10000, .a = a, .lda = n,
///                         .stride_a = n * n, .b = b, .ldb = 1, .stride_b = n, .info = info};
///     run_systems<double>(cuda, cuda.default_queue(), n, n, systems);
///
/// backend/small_systems.hpp has the tasks and their arguments. Matrices, arrays of pointers, pivots and info are the
/// caller's, in the executor's memory, and must stay until the queue has done the work. Work of a stream that is not
/// Tessera's is ordered by Queue::start_after() and finish_before(), or by a queue of that stream
/// (Executor::adopt_stream()). Each system has the bits that it has alone (docs/contract.md, "Linear algebra").
///
/// Each number lies at a multiple of its size, also a complex one, which C++ aligns less.
///
/// What the host cannot read is not checked: pointers in arrays, whether matrices overlap that are given by them, and
/// pivots. A pivot that is no row of its matrix gives a wrong solution of its system.
///
/// Source: getrfBatched and getrsBatched of cuBLAS.

#include <tessera/backend/small_systems.hpp>
#include <tessera/detail/number_type.hpp>
#include <tessera/executor.hpp>
#include <tessera/linear_algebra/options.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {
namespace detail {
TESSERA_API void run_systems(Executor& executor, Queue& queue, NumberType type, Index rows, Index cols,
                             const SystemsCall& systems);
} // namespace detail

/// Enqueues a task for systems of rows×cols numbers of f32 or f64. Throws InvalidArgument for sizes, distances and null
/// pointers that are wrong, KernelRejected where the executor has no such step or the systems are too large for it (on
/// CUDA more than 512 rows, fewer where a block's shared memory is too small for them), OutOfMemory and DeviceError.
/// Nothing has been written then.
TESSERA_API void run_systems(Executor& executor, Queue& queue, DType type, Index rows, Index cols,
                             const SystemsCall& systems);

/// Does so for numbers of type T: float, double, or complex numbers of them.
template <class T>
requires detail::RealOrComplex<T>
void run_systems(Executor& executor, Queue& queue, Index rows, Index cols, const SystemsCall& systems) {
  detail::run_systems(executor, queue, detail::number_type_of<T>, rows, cols, systems);
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
