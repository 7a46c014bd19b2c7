#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/storage.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <new>

#include <tessera/status.hpp>

#include "core/backends/registry.hpp"
#include "core/base/host_memory.hpp"
#include "operand.hpp"

namespace tessera::detail {
namespace {

/// Returns the bytes of `rows` rows of `ld` elements; 0 if the matrix is empty.
std::size_t bytes_of(Index rows, Index cols, Index ld, DType type) {
  return cols == 0 ? 0 : static_cast<std::size_t>(rows * ld) * size_of(type);
}

void check_shape(Index rows, Index cols, Index ld, DType type) {
  if (rows < 0 || cols < 0) throw InvalidArgument("matrix sizes must not be negative: " + shape(rows, cols));
  if (ld < cols)
    throw InvalidArgument("matrix: ld = " + std::to_string(ld) + " is less than its " + std::to_string(cols) +
                          " columns");
  const Index largest = std::numeric_limits<std::ptrdiff_t>::max() / static_cast<Index>(size_of(type));
  if (cols > largest - 64 || (rows > 0 && ld > largest / rows))
    throw InvalidArgument("matrix of " + shape(rows, cols) + " " + std::string(to_string(type)) +
                          " elements overflows the address space");
}

} // namespace

Storage::Storage(Index rows, Index cols, DType type) : rows_(rows), cols_(cols), ld_(0), type_(type) {
  check_shape(rows, cols, std::max<Index>(cols, 0), type);
  ld_ = padded(cols, type);
  check_shape(rows, cols, ld_, type);
}

Storage::Storage(void* host, Index rows, Index cols, Index ld, DType type)
    : rows_(rows),
      cols_(cols),
      ld_(std::max<Index>(ld, 1)),
      type_(type),
      host_(host),
      owns_host_(false),
      host_current_(true) {
  check_shape(rows, cols, ld, type);
  if (host == nullptr && rows > 0 && cols > 0)
    throw InvalidArgument("matrix view of null with " + shape(rows, cols) + " elements");
}

Storage::Storage(Index rows, Index cols, DType type, Executor& pins) : Storage(rows, cols, type) {
  void* memory = nullptr;
  throw_if_failed(pins.allocate_host(bytes_of(rows_, cols_, ld_, type_), memory));
  host_ = memory;
  pins_ = &pins;
}

Storage::~Storage() {
  if (host_in_use_ && !(executor_ != nullptr && is_lost(*executor_))) static_cast<void>(wait_for_host_work());
  // The caller's memory must get what was computed into it on a device.
  if (!owns_host_ && !host_current_) try {
      fetch();
    } catch (const Error& error) {
      std::fprintf(stderr, "tessera: a result for the caller's memory is lost: %s\n", error.what());
    }
  release_device();
  if (pins_ != nullptr) {
    if (!is_lost(*pins_)) pins_->free_host(host_);
  } else if (owns_host_) {
    free_host(host_);
  }
}

void Storage::allocate_host() {
  if (host_ != nullptr) return;
  const std::size_t bytes = bytes_of(rows_, cols_, ld_, type_);
  host_ = tessera::allocate_host(bytes);
  if (host_ == nullptr)
    throw OutOfMemory("out of host memory: a " + shape(rows_, cols_) + " matrix needs " + std::to_string(bytes) +
                      " bytes");
}

void Storage::release_device() noexcept {
  if (device_ != nullptr && !is_lost(*executor_)) give_up_memory();
  device_ = nullptr;
  device_current_ = false;
  executor_ = nullptr;
  is_viewed_ = false;
}

/// Frees the device's memory, or keeps it for the calls that hold the matrix there; `left_` has room. The mutex is
/// held.
void Storage::give_up_memory() noexcept {
  if (holds_ > 0 && held_on_ == executor_)
    left_.push_back({executor_, device_});
  else
    executor_.load()->free(device_);
}

void Storage::fetch() {
  std::lock_guard lock(mutex_);
  if (host_current_) return;
  if (device_current_ && is_lost(*executor_))
    throw BackendUnavailable("the newest elements of this " + shape(rows_, cols_) + " matrix are in the memory of " +
                             executor_.load()->capabilities().device +
                             ", and this process was forked from the one that put " +
                             "them there; read the matrix before the fork, or start the child as a new program");
  if (arriving_.exchange(false)) {
    throw_if_failed(wait_for_host_work());
    return host_current_.store(true, std::memory_order_release);
  }
  allocate_host();
  if (device_current_ && rows_ > 0 && cols_ > 0) {
    order_after_pending(executor_.load()->default_queue());
    const std::size_t element = size_of(type_);
    throw_if_failed(
        executor_.load()->copy_out(executor_.load()->default_queue(), host_, static_cast<std::size_t>(ld_) * element,
                                   device_, static_cast<std::size_t>(device_ld_) * element,
                                   static_cast<std::size_t>(cols_) * element, static_cast<std::size_t>(rows_)));
  }
  host_current_.store(true, std::memory_order_release);
}

/// Makes room for this matrix in the executor's memory; what was in another one's is given up.
void Storage::make_room(Executor& executor) {
  if (executor_ == &executor) return;
  left_.reserve(left_.size() + 1);
  release_device();
  const Index ld = padded(cols_, type_);
  void* memory = nullptr;
  throw_if_failed(executor.allocate(std::max<std::size_t>(bytes_of(rows_, cols_, ld, type_), 1), memory));
  device_ = memory;
  device_ld_ = ld;
  executor_ = &executor;
}

/// Makes room for this matrix in the executor's memory, and copies the host's elements there unless the device's are
/// current or `discard` says that they are not needed.
Placed Storage::place(Executor& executor, bool discard) {
  const std::size_t element = size_of(type_);
  make_room(executor);
  order_after_pending(executor.default_queue());
  if (!device_current_ && !discard) {
    if (rows_ > 0 && cols_ > 0)
      throw_if_failed(executor.copy_in(executor.default_queue(), device_,
                                       static_cast<std::size_t>(device_ld_) * element, host_,
                                       static_cast<std::size_t>(ld_) * element,
                                       static_cast<std::size_t>(cols_) * element, static_cast<std::size_t>(rows_)));
    device_current_.store(true, std::memory_order_release);
  }
  return {device_, device_ld_};
}

/// May a reader bring the matrix to this executor, or must it stay where it is used? Views may take it away from a
/// call, which keeps the memory until it ends. The mutex is held.
bool Storage::may_come_to(const Executor& executor, Stay stay) const noexcept {
  if (stay != Stay::Held) return true;
  const bool is_held_elsewhere = holds_ > 0 && held_on_ != &executor;
  const bool is_viewed_elsewhere = is_viewed_ && device_current_ && executor_ != &executor;
  return !is_held_elsewhere && !is_viewed_elsewhere;
}

/// Are the newest elements there, or on the host? The mutex is held.
bool Storage::has_elements_for(const Executor& executor) const noexcept {
  return (device_current_ && executor_ == &executor) || host_current_;
}

void Storage::note_stay(const Executor& executor, Stay stay) noexcept {
  if (stay == Stay::Viewed) is_viewed_ = true;
  if (stay != Stay::Held) return;
  held_on_ = &executor;
  ++holds_;
}

/// Returns null where the matrix must not come.
Placed Storage::place_on(Executor& executor, bool discard, Stay stay) {
  for (;;) {
    // Another device's copy goes by way of the host; and where it is about to be dropped, the host must hold the old
    // value until a write is done.
    if (resident_on() != &executor && (!discard || device_current_)) host_read();
    const std::lock_guard lock(mutex_);
    if (!may_come_to(executor, stay)) return {};
    if (!discard && !has_elements_for(executor)) continue; // another thread has moved them meanwhile
    const Placed placed = place(executor, discard);
    note_stay(executor, stay);
    return placed;
  }
}

Placed Storage::read_on(Executor& executor) {
  if (executor.capabilities().host_memory) return {const_cast<void*>(host_read()), ld_};
  return place_on(executor, false, Stay::Free);
}

Placed Storage::hold_on(Executor& executor) { return place_on(executor, false, Stay::Held); }

Placed Storage::write_on(Executor& executor, bool discard) {
  if (!executor.capabilities().host_memory) return place_on(executor, discard, Stay::Free);
  if (!discard) host_read();
  if (host_in_use_) settle_host();
  allocate_host();
  return {host_, ld_};
}

Placed Storage::view_on(Executor& executor, bool writes, bool discard) {
  const Placed placed = !executor.capabilities().host_memory ? place_on(executor, discard, Stay::Viewed)
                        : writes                             ? write_on(executor, discard)
                                                             : read_on(executor);
  if (writes) written_on(executor);
  return placed;
}

void Storage::written_on(Executor& executor) noexcept {
  const bool on_host = executor.capabilities().host_memory;
  arriving_ = false;
  host_current_.store(on_host, std::memory_order_release);
  device_current_.store(!on_host, std::memory_order_release);
}

void Storage::leave_device() {
  host_read();
  const std::lock_guard lock(mutex_);
  if (holds_ == 0 && !(is_viewed_ && device_current_)) release_device();
}

void Storage::let_go() noexcept {
  const std::lock_guard lock(mutex_);
  if (--holds_ > 0) return;
  for (const LeftMemory& left : left_)
    if (!is_lost(*left.executor)) left.executor->free(left.memory);
  left_.clear();
}

Executor* Storage::newest_on() const noexcept { return device_current_ && !host_current_ ? executor_.load() : nullptr; }
Executor* Storage::resident_on() const noexcept {
  Executor* const executor = executor_;
  return device_current_ && executor != nullptr && !is_lost(*executor) ? executor : nullptr;
}

std::shared_ptr<Storage> create_storage(Index rows, Index cols, DType type) try {
  return std::make_shared<Storage>(rows, cols, type);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

std::shared_ptr<Storage> create_pinned_storage(Index rows, Index cols, DType type, Executor& executor) try {
  return std::make_shared<Storage>(rows, cols, type, executor);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

Operand wrap_host(void* data, Index rows, Index cols, Index ld, DType type) try {
  return {std::make_shared<Storage>(data, rows, cols, ld, type), 0, 0, rows, cols, Op::None};
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

Operand block_of(const Operand& operand, Index row, Index col, Index rows, Index cols) {
  Index height = operand.rows;
  Index width = operand.cols;
  if (operand.op == Op::Transpose) std::swap(height, width);
  if (row < 0 || col < 0 || rows < 0 || cols < 0 || row > height - rows || col > width - cols)
    throw InvalidArgument("block of " + shape(rows, cols) + " at (" + std::to_string(row) + ", " + std::to_string(col) +
                          ") does not fit into a matrix of " + shape(height, width));
  if (operand.op == Op::Transpose) {
    std::swap(row, col);
    std::swap(rows, cols);
  }
  return {operand.storage, operand.row + row, operand.col + col, rows, cols, operand.op};
}

Placed write_on(const Operand& operand, Executor& executor, bool discard) {
  return place_of(operand, operand.storage->write_on(executor, discard && is_whole(operand)));
}

void written_on(const Operand& operand, Executor& executor) noexcept { operand.storage->written_on(executor); }

void check_index(Index i, Index j, Index rows, Index cols) {
  if (i < 0 || j < 0 || i >= rows || j >= cols)
    throw InvalidArgument("element (" + std::to_string(i) + ", " + std::to_string(j) + ") is outside a matrix of " +
                          shape(rows, cols));
}

void check_row_length(Index row, Index length, Index expected) {
  if (length != expected)
    throw InvalidArgument("row " + std::to_string(row) + " has " + std::to_string(length) + " elements, row 0 has " +
                          std::to_string(expected));
}

} // namespace tessera::detail
