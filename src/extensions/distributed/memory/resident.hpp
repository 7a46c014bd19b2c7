#pragma once

/// Elements of a distributed matrix that stay in an executor's memory.

#include <memory>

#include <tessera/detail/distributed.hpp>
#include <tessera/executor.hpp>

#include "core/executor/device_rectangle.hpp"
#include "core/executor/executor_memory.hpp"
#include "extensions/distributed/elements.hpp"

namespace tessera::detail {

/// This rank's elements in the memory of an executor. DistributedStorage::data is their copy on the host, which the
/// executor copies from and to without waiting; one of the two is the newest, or both are alike.
struct PlacedElements {
  explicit PlacedElements(Executor& of) : executor(of), memory(of) {}

  enum class Newest { Both, Host, Device };

  Executor& executor;
  ExecutorMemory memory;
  DeviceRectangle layout{}; ///< lines: rows in row-major order, columns in column-major order
  Newest newest = Newest::Both;
};

} // namespace tessera::detail

namespace tessera::distributed {

/// Brings the elements to the host, unless their newest copy is there. `writes`: they are going to be changed there.
Status to_host(const tessera::detail::DistributedStorage& x, bool writes) noexcept;
/// Brings the elements to their executor, unless their newest copy is there. There must be one.
Status to_device(const tessera::detail::DistributedStorage& x) noexcept;
/// All elements were written on the host, or in their executor's memory.
void written_on_host(const tessera::detail::DistributedStorage& x) noexcept;
void written_on_device(const tessera::detail::DistributedStorage& x) noexcept;
/// Returns where the elements are in their executor's memory, with rows as the outer dimension, or with columns.
Elements elements_on_device(const tessera::detail::DistributedStorage& x, bool rows_are_outer) noexcept;
/// Do the elements stay in this executor's memory?
bool stays_on(const tessera::detail::DistributedStorage& x, const Executor& executor) noexcept;

} // namespace tessera::distributed
