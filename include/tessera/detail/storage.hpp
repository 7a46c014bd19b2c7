#pragma once

/// The storage of Matrix and MatrixView: elements on the host, on one device, or both. Programs do not use it directly.

#include <atomic>
#include <iosfwd>
#include <memory>
#include <mutex>
#include <vector>

#include <tessera/detail/export.hpp>
#include <tessera/detail/forward.hpp>
#include <tessera/executor.hpp>
#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

/// A point in the work of an ExecutionQueue.
struct QueueMark {
  std::unique_ptr<Event> event;
  std::atomic<bool> reached = false; ///< the host has waited for it
};

/// Work in a queue that uses a matrix and may not be done yet.
struct Pending {
  const Queue* queue = nullptr;
  std::shared_ptr<QueueMark> done;
  bool uses_host = false; ///< it reads or writes the host's elements
};

/// Elements in an executor's memory: the first one, and the number of elements from row to row.
struct Placed {
  void* data = nullptr;
  Index ld = 0;
};

/// The host's and the device's copy of a matrix, and which of them are current. A copy is made when it is first needed.
/// Several threads may read at once; writing needs the caller's own synchronisation.
class TESSERA_API Storage {
 public:
  Storage(Index rows, Index cols, DType type);                       ///< owns its memory, contents undefined
  Storage(void* host, Index rows, Index cols, Index ld, DType type); ///< the caller's memory
  Storage(Index rows, Index cols, DType type, Executor& pins);       ///< owns host memory that `pins` allocates
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  Index rows() const noexcept { return rows_; }
  Index cols() const noexcept { return cols_; }
  Index ld() const noexcept { return ld_; }
  DType type() const noexcept { return type_; }
  bool borrowed() const noexcept { return !owns_host_; } ///< the elements are in the caller's memory
  /// Returns the host's memory without a copy; null where it is the library's own and not current.
  const void* home() const noexcept {
    return borrowed() || host_current_.load(std::memory_order_acquire) ? host_ : nullptr;
  }

  /// Returns the host's elements, and copies them from the device first if it has newer ones.
  const void* host_read() {
    if (!host_current_.load(std::memory_order_acquire)) fetch();
    return host_;
  }
  /// Returns the host's elements for writing, copied from the device first if it has newer ones. The device's copy
  /// becomes stale.
  void* host_write() {
    if (!host_current_.load(std::memory_order_acquire)) fetch();
    if (host_in_use_.load(std::memory_order_acquire)) settle_host();
    device_current_.store(false, std::memory_order_release);
    return host_;
  }

  /// Returns the elements in the executor's memory, and copies them there first if they are not current there. Another
  /// thread's call may take them away; hold_on() forbids it.
  Placed read_on(Executor& executor);
  /// Returns memory in which the executor may write; `discard`: the old elements are not needed. The matrix keeps its
  /// old value until written_on() is called, so that a call that fails loses nothing.
  Placed write_on(Executor& executor, bool discard);
  void written_on(Executor& executor) noexcept;
  /// Returns a place for views, which stays until the host writes the elements, or they go to another executor for a
  /// view or a result. Where views write, the executor's copy is the newest one from now on; `discard` as in
  /// write_on().
  Placed view_on(Executor& executor, bool writes, bool discard);

  // For work in a queue; src/core/matrix/queued_work.hpp uses them. What they enqueue is noted as pending at once.

  /// Does what write_on() does, in the queue, after the work that uses the matrix.
  Placed write_in(ExecutionQueue& queue, bool discard);
  /// Does what hold_on() does, in the queue, after the work that uses the matrix.
  Placed hold_in(ExecutionQueue& queue);
  /// Enqueues a copy of the elements from the queue's executor to the host, unless they are there.
  void fetch_in(ExecutionQueue& queue);
  /// Returns the host's elements for a copy in the queue, which comes after the work that uses the matrix.
  const void* host_source(ExecutionQueue& queue);
  /// Returns the host's memory for a copy in the queue that writes a part of it or, with `whole`, all of it.
  void* host_target(ExecutionQueue& queue, bool whole);
  /// Notes work in the queue up to the mark. One of the functions above was called for the queue before.
  void note(const Queue& queue, std::shared_ptr<QueueMark> done, bool uses_host) noexcept;
  /// Notes work in the queue that writes the host's elements, which are the newest ones then.
  void note_arrival(const Queue& queue, std::shared_ptr<QueueMark> done) noexcept;

  /// Frees the device's memory, after its elements were copied to the host if they are newer; but not while a call
  /// holds the matrix there, or a view may be in use.
  void leave_device();
  /// Does what read_on() does, and keeps the elements there until let_go(). Returns null where the matrix must not
  /// come, because another call holds it on another executor, or a view may be in use there. Both are for DeviceHold.
  Placed hold_on(Executor& executor);
  void let_go() noexcept;

  Executor* newest_on() const noexcept;
  /// Returns the executor that holds a current copy; null if there is none.
  Executor* resident_on() const noexcept;

 private:
  void fetch();
  void allocate_host();
  void make_room(Executor& executor);
  Placed place(Executor& executor, bool discard);
  /// What is to become of a place after the call that asks for it.
  enum class Stay { Free, Held, Viewed };
  Placed place_on(Executor& executor, bool discard, Stay stay);
  Placed place_in(ExecutionQueue& queue, bool discard, Stay stay);
  bool may_come_to(const Executor& executor, Stay stay) const noexcept;
  bool has_elements_for(const Executor& executor) const noexcept;
  void note_stay(const Executor& executor, Stay stay) noexcept;
  bool take_from_other_executor(ExecutionQueue& queue, Stay stay);
  void order_after_pending(Queue& queue);
  void settle_host();
  Status wait_for_host_work() noexcept;
  /// May a copy from the host's elements be under way after its call? See Executor::enqueue_copy().
  bool copies_are_deferred() const noexcept { return pins_ != nullptr || !owns_host_; }
  void note_locked(const Queue& queue, std::shared_ptr<QueueMark> done, bool uses_host) noexcept;
  void release_device() noexcept;
  void give_up_memory() noexcept;

  /// Memory that the matrix has left while a call still uses it.
  struct LeftMemory {
    Executor* executor;
    void* memory;
  };

  Index rows_, cols_, ld_;
  DType type_;
  void* host_ = nullptr;
  bool owns_host_ = true;
  Executor* pins_ = nullptr; ///< allocated the host's memory; null: ordinary memory
  std::atomic<bool> host_current_ = false;
  std::atomic<Executor*> executor_ = nullptr;
  void* device_ = nullptr;
  Index device_ld_ = 0;
  std::atomic<bool> device_current_ = false;
  std::mutex mutex_;

  int holds_ = 0;                     ///< calls that use the place on `held_on_`; guarded by the mutex
  const Executor* held_on_ = nullptr; ///< guarded by the mutex
  bool is_viewed_ = false;            ///< views of the place on `executor_` may be in use; guarded by the mutex
  std::vector<LeftMemory> left_;      ///< to be freed when no call holds the matrix; guarded by the mutex

  std::vector<Pending> pending_;          ///< guarded by the mutex; at most two for each queue
  std::atomic<bool> host_in_use_ = false; ///< pending work uses the host's elements
  std::atomic<bool> arriving_ = false;    ///< pending work writes the host's elements, which are the newest then
};

/// A rectangle of a storage, or its transpose. rows and cols are the sizes of the rectangle as it is stored.
struct Operand {
  std::shared_ptr<Storage> storage;
  Index row = 0;
  Index col = 0;
  Index rows = 0;
  Index cols = 0;
  Op op = Op::None;
};

/// A call's use of an operand in an executor's memory. From read() on, as long as it lives, calls of other threads
/// leave the operand's place there: they do not take it away where the device lacks memory, nor to another executor. It
/// must live until the work is enqueued, because Executor::free() comes after enqueued work. Where the matrix itself
/// must not come, because another call holds it on another executor, the operand is copied to memory of the hold's own.
/// In the host's memory it holds nothing. The operand must outlive it.
///
/// Results need no hold: writing a matrix that another call uses needs the caller's own synchronisation.
class TESSERA_API DeviceHold {
 public:
  DeviceHold(const Operand& x, Executor& executor) noexcept : x_(x), executor_(executor) {}
  DeviceHold(const Operand&& x, Executor& executor) = delete;
  ~DeviceHold();
  DeviceHold(const DeviceHold&) = delete;
  DeviceHold& operator=(const DeviceHold&) = delete;

  /// Returns the operand's first stored element in the executor's memory, and brings the elements there first if they
  /// are not current there. Called once.
  Placed read();
  /// Does it in a queue of this executor. The caller notes the work with the matrix: `reads_host` says whether the
  /// queue copies the host's elements.
  Placed read_in(ExecutionQueue& queue, bool& reads_host);

 private:
  Placed make_copy();

  const Operand& x_;
  Executor& executor_;
  bool is_held_ = false;
  void* copy_ = nullptr;
};

TESSERA_API std::shared_ptr<Storage> create_storage(Index rows, Index cols, DType type);
TESSERA_API std::shared_ptr<Storage> create_pinned_storage(Index rows, Index cols, DType type, Executor& executor);
TESSERA_API Operand wrap_host(void* data, Index rows, Index cols, Index ld, DType type);
TESSERA_API Operand block_of(const Operand& operand, Index row, Index col, Index rows, Index cols);

/// Storage's functions of these names, for the rectangle of an operand: `data` is its first stored element.
TESSERA_API Placed write_on(const Operand& operand, Executor& executor, bool discard);
TESSERA_API void written_on(const Operand& operand, Executor& executor) noexcept;

TESSERA_API void check_index(Index i, Index j, Index rows, Index cols);
TESSERA_API void check_row_length(Index row, Index length, Index expected);

TESSERA_API void fill(const Operand& z, double value);
TESSERA_API void identity(const Operand& z);
TESSERA_API void random(const Operand& z, Distribution distribution, std::uint64_t seed, double low, double high);
/// Copies x to z, and converts the elements if the types differ.
TESSERA_API void copy(const Operand& x, const Operand& z);
TESSERA_API void scale(double alpha, const Operand& x, const Operand& z);
TESSERA_API void axpby(double alpha, const Operand& x, double beta, const Operand& y, const Operand& z);
TESSERA_API void multiply(const Operand& x, const Operand& y, const Operand& z);
TESSERA_API double reduce(const Operand& x, ReduceOp op);
TESSERA_API double norm_frobenius(const Operand& x);
TESSERA_API double norm_one(const Operand& x);
TESSERA_API double norm_inf(const Operand& x);
TESSERA_API bool equal(const Operand& x, const Operand& y);
TESSERA_API std::ostream& print(std::ostream& out, const Operand& x);

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
