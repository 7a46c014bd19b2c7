#pragma once

/// The processors that the process may use.
///
/// An OpenMP runtime that is told to bind threads (OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY, KMP_AFFINITY) binds
/// the thread that loads it or that opens its first parallel region to one place, often one processor. That place says
/// nothing of the process, and threads that such a thread starts inherit it. So the affinity at the start of the
/// process counts.

#include <vector>

#include <tessera/detail/export.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

/// A set of processors as the system has it: bit i stands for processor i, whatever the number of processors is.
class ProcessorMask {
 public:
  /// The processors on which a thread may run; 0 is the calling thread. Empty if the system does not say.
  TESSERA_API static ProcessorMask of_thread(int thread);

  TESSERA_API int count() const noexcept;
  TESSERA_API int first() const noexcept; ///< −1: none
  TESSERA_API void add(int processor);
  /// Is each processor of this set in the other one?
  TESSERA_API bool is_within(const ProcessorMask& other) const noexcept;
  /// Lets the calling thread run on these processors.
  TESSERA_API void use_here() const noexcept;
  /// Lets a thread of any process, 0 for the calling one, run on these processors alone. Returns whether the system
  /// did so.
  TESSERA_API bool give_to(int thread) const noexcept;
  bool operator==(const ProcessorMask&) const = default;

 private:
  std::vector<unsigned long> words_; ///< without zeros at its end
};

/// Returns how many processors the process may use, at least 1: the affinity of its first thread. Where the environment
/// tells OpenMP to bind threads, it is the affinity when libtessera was loaded, or the processors of all places of a
/// runtime that had bound the thread by then. Throws std::bad_alloc.
TESSERA_API int processors_of_process();

/// Lets the calling thread, which has just been started, run on all processors of the process if it inherited one place
/// of an OpenMP runtime. Without binding it costs a look at a flag.
TESSERA_API void leave_inherited_place() noexcept;

/// Keeps the processors of the calling thread as they are while a library is loaded: an OpenMP runtime that comes with
/// it would bind the thread.
class KeptProcessors {
 public:
  TESSERA_API KeptProcessors();
  TESSERA_API ~KeptProcessors();
  KeptProcessors(const KeptProcessors&) = delete;
  KeptProcessors& operator=(const KeptProcessors&) = delete;

 private:
  ProcessorMask before_;
};

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
