#pragma once

/// The base of executors that compute in host memory: reference, OpenMP, TBB and plug-ins of other authors.
/// It implements memory, copies, queues (work is done when a call returns) and events (the steady clock).

#include <tessera/executor.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

struct StoredProductCall; // stored_product.hpp
struct TriangleTilesCall; // triangle_tiles.hpp

/// A queue whose work is done when a call returns.
class TESSERA_API HostQueue final : public Queue {
 public:
  /// Waits for nothing.
  ~HostQueue() override;
  /// Returns at once.
  Status synchronize() noexcept override { return {}; }
};

/// Work of the caller's own that runs many loops and products on one executor, one after another.
struct StepsCall {
  void (*body)(const void* context) noexcept = nullptr; ///< is called once, on the caller's thread
  const void* context = nullptr;                        ///< what body gets
  double work = 0;                                      ///< about how many multiply-adds it has
  int threads = 0; ///< threads that the steps use; 0: as many as the executor was made with
};

/// An executor in host memory; a backend adds its ladders, its element-wise operations and its capabilities.
class TESSERA_API HostExecutor : public Executor {
 public:
  /// Frees what the executor owns.
  ~HostExecutor() override;
  /// Allocates host memory aligned to cache lines; see Executor::allocate().
  Status run_allocate(std::size_t bytes, void*& memory) noexcept override;
  /// Frees memory that allocate() gave.
  void run_free(void* memory) noexcept override;
  /// Copies within host memory; see Executor::copy_in().
  Status run_copy_in(Queue& queue, void* device, std::size_t device_pitch, const void* host, std::size_t host_pitch,
                     std::size_t width, std::size_t rows) noexcept override;
  /// Copies within host memory; see Executor::copy_out().
  Status run_copy_out(Queue& queue, void* host, std::size_t host_pitch, const void* device, std::size_t device_pitch,
                      std::size_t width, std::size_t rows) noexcept override;
  /// Copies within host memory, also from another executor of the host; see Executor::enqueue_copy().
  Status run_enqueue_copy(Queue& queue, const CopyCall& call) noexcept override;
  /// Applies an epilogue in a serial loop; see Executor::finish().
  Status run_finish(Queue& queue, const FinishCall& call) noexcept override;
  /// Returns the number of threads that work started by this thread may use. Inside a parallel region of the executor's
  /// runtime it is smaller than capabilities().threads.
  virtual int threads_here() const noexcept { return capabilities().threads; }
  /// Calls the body. A backend may keep its threads awake meanwhile, so that each step finds them at once.
  virtual void run_steps(const StepsCall& call) noexcept { call.body(call.context); }
  /// Returns the kernel that run_stored_product() would run, by its name or by gemm()'s choice; null where it does not
  /// take the product.
  virtual const GemmKernel* stored_product_kernel(const StoredProductCall& call, std::string_view name) const;
  /// Computes a product that stored_product_kernel() takes. On OutOfMemory nothing is written.
  virtual Status run_stored_product(const StoredProductCall& call) noexcept;
  /// Computes with a triangle in tiles. Returns Rejected where there are none, or where products are faster. On an
  /// error nothing is written.
  virtual Status run_triangle_tiles(const TriangleTilesCall& call) noexcept;
  /// Returns the queue that matrices and gemm() use.
  Queue& default_queue() noexcept override { return queue_; }
  /// Makes another queue.
  Status create_queue(std::unique_ptr<Queue>& queue) noexcept override;
  /// Makes an event that reads the steady clock.
  Status create_event(std::unique_ptr<Event>& event) noexcept override;

 private:
  HostQueue queue_;
};

/// Calls HostExecutor::run_steps(), or the body where the executor is of another kind.
TESSERA_API void run_steps(Executor& executor, const StepsCall& call) noexcept;

/// Is this a HostExecutor that may not use all of its threads from this thread?
TESSERA_API bool lacks_threads_here(const Executor& executor) noexcept;

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
