/// Distributed matrices and their memory.

#include <algorithm>
#include <limits>
#include <new>
#include <string>

#include <tessera/backend.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/distributed/distributed.hpp>

#include "agreement.hpp"
#include "memory/resident.hpp"
#include "operands.hpp"
#include "stored_rows.hpp"

namespace tessera {

distributed::Source distributed::source_of(const detail::DistributedStorage& x, bool rows_are_outer) noexcept {
  const Axis rows = x.grid->row_axis(x), cols = x.grid->col_axis(x);
  const bool row_major = x.order == LocalOrder::RowMajor;
  char* data = static_cast<char*>(x.data);
  const Index row_step = row_major ? x.ld : 1, col_step = row_major ? 1 : x.ld;
  if (rows_are_outer) return {{rows, cols}, {data, row_step, col_step}, !row_major};
  return {{cols, rows}, {data, col_step, row_step}, row_major};
}

Status distributed::agree_on_layout(const char* function, const detail::DistributedStorage& x,
                                    const Status& mine) noexcept {
  const EqualArgument arguments[] = {{"the rows", x.rows},
                                     {"the columns", x.cols},
                                     {"the rows of a block", x.blocks.rows},
                                     {"the columns of a block", x.blocks.cols},
                                     {"the process row of the first block", std::int64_t{x.row_source}},
                                     {"the process column of the first block", std::int64_t{x.col_source}},
                                     {"the local order", std::int64_t{static_cast<int>(x.order)}}};
  return agree(*x.grid->world, function, mine, arguments);
}

namespace detail {
namespace {

using namespace tessera::distributed;

Index default_block(Index size, int count) { return std::clamp<Index>((size + count - 1) / count, 1, 1024); }

Status check_sizes(const DistributedStorage& x) {
  if (x.rows < 0 || x.cols < 0)
    return wrong("sizes must not be negative, and they are " + text_of_shape(x.rows, x.cols));
  if (x.blocks.rows < 1 || x.blocks.cols < 1)
    return wrong("blocks must have at least 1×1 elements, and have " + text_of_shape(x.blocks.rows, x.blocks.cols));
  const Index most = std::numeric_limits<std::ptrdiff_t>::max() / static_cast<Index>(x.type.bytes());
  if (x.rows > 0 && x.cols > most / x.rows)
    return wrong(text_of_shape(x.rows, x.cols) + " elements overflow the address space");
  return {};
}

/// Sets how much of the matrix this rank holds.
void set_local_sizes(DistributedStorage& x) noexcept {
  const GridState& grid = *x.grid;
  if (grid.world->rank() >= grid.layer_size()) return;
  x.local_rows = grid.row_axis(x).held(grid.row_of_rank());
  x.local_cols = grid.col_axis(x).held(grid.col_of_rank());
}

/// Checks the caller's memory for this rank's elements.
Status check_memory(const DistributedStorage& x, const char* name_of_ld) {
  const Index line = stored_rows(x).cols;
  if (x.ld < std::max<Index>(1, line))
    return wrong(std::string(name_of_ld) + " = " + std::to_string(x.ld) + " is less than the " + std::to_string(line) +
                 (x.order == LocalOrder::RowMajor ? " columns" : " rows") + " that the rank holds");
  if (x.data == nullptr && x.local_rows > 0 && x.local_cols > 0)
    return wrong("the memory is null, but the rank holds " + text_of_shape(x.local_rows, x.local_cols) + " elements");
  return {};
}

DistributedStorage described(const std::shared_ptr<GridState>& grid, Index rows, Index cols, Blocks blocks,
                             LocalOrder order, DistributedType type) noexcept {
  DistributedStorage x;
  x.grid = grid;
  x.type = type;
  x.rows = rows;
  x.cols = cols;
  x.blocks = {blocks.rows == 0 ? default_block(rows, grid->shape.rows) : blocks.rows,
              blocks.cols == 0 ? default_block(cols, grid->shape.cols) : blocks.cols};
  x.order = order;
  return x;
}

/// Makes the matrix in the caller's memory, once `check` has nothing to say of it.
template <class Check>
DistributedPointer wrap_checked(DistributedStorage x, Check&& check) {
  DistributedPointer made;
  const Status status = guarded([&] {
    if (Status wrong = check(x); !wrong.ok()) return wrong;
    made = std::make_shared<DistributedStorage>(x);
    return Status{};
  });
  throw_if_failed(agree_on_layout("wrap", x, status));
  return made;
}

Executor& executor_of(const Residence& residence) {
  return residence.device < 0 ? executor(residence.backend) : executor(residence.backend, residence.device);
}

/// `residence` is null for elements on the host alone.
Status allocate_elements(DistributedStorage& x, const Residence* residence) {
  Executor* device = residence != nullptr ? &executor_of(*residence) : nullptr;
  if (device != nullptr && device->capabilities().host_memory) device = nullptr;
  x.ld = std::max<Index>(1, stored_rows(x).cols);
  const std::size_t bytes = static_cast<std::size_t>(x.local_rows * x.local_cols) * x.type.bytes();
  if (bytes == 0) return {};
  auto buffers = std::make_shared<HostBuffers>();
  char* memory = nullptr;
  if (Status status = buffers->allocate(bytes, memory, device); !status.ok()) return status;
  x.data = memory;
  x.memory = std::move(buffers);
  if (device == nullptr) return {};
  auto resident = std::make_shared<PlacedElements>(*device);
  resident->layout = {stored_rows(x).rows, x.ld, x.type.bytes()};
  if (Status status = resident->memory.allocate(resident->layout.bytes()); !status.ok()) return status;
  x.resident = std::move(resident);
  return {};
}

} // namespace

DistributedPointer create_distributed(const std::shared_ptr<GridState>& grid, Index rows, Index cols, Blocks blocks,
                                      LocalOrder order, DistributedType type, const Residence* residence) try {
  DistributedStorage x = described(grid, rows, cols, blocks, order, type);
  throw_if_failed(agree_on_layout("distributed matrix", x, guarded([&] { return check_sizes(x); })));
  set_local_sizes(x);
  DistributedPointer made;
  const Status status = guarded([&] {
    if (Status allocated = allocate_elements(x, residence); !allocated.ok()) return allocated;
    made = std::make_shared<DistributedStorage>(x);
    return Status{};
  });
  throw_if_failed(agree(*grid->world, "distributed matrix", status));
  return made;
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

DistributedPointer wrap_distributed(const std::shared_ptr<GridState>& grid, Index rows, Index cols, Blocks blocks,
                                    const LocalMemory& memory, DistributedType type) try {
  DistributedStorage x = described(grid, rows, cols, blocks, memory.order, type);
  x.ld = memory.ld;
  x.data = memory.data;
  return wrap_checked(x, [](DistributedStorage& checked) {
    if (Status status = check_sizes(checked); !status.ok()) return status;
    set_local_sizes(checked);
    return check_memory(checked, "ld");
  });
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

DistributedPointer wrap_distributed(const std::shared_ptr<GridState>& grid, const std::array<int, 9>& descriptor,
                                    void* data, DistributedType type, LocalOrder order) try {
  const auto [kind, context, rows, cols, row_block, col_block, row_source, col_source, ld] = descriptor;
  static_cast<void>(context);
  DistributedStorage x = described(grid, rows, cols, {}, order, type);
  x.blocks = {row_block, col_block};
  x.row_source = row_source;
  x.col_source = col_source;
  x.ld = ld;
  x.data = data;
  return wrap_checked(x, [kind = kind](DistributedStorage& checked) {
    const auto text = [](int number) { return std::to_string(number); };
    const GridShape& shape = checked.grid->shape;
    if (Status status = check_sizes(checked); !status.ok()) return status;
    if (kind != 1)
      return wrong("descriptor: DTYPE_ = " + text(kind) + "; only dense matrices, DTYPE_ = 1, can be wrapped");
    if (checked.row_source < 0 || checked.row_source >= shape.rows)
      return wrong("descriptor: RSRC_ = " + text(checked.row_source) + ", and the grid has " + text(shape.rows) +
                   " process rows");
    if (checked.col_source < 0 || checked.col_source >= shape.cols)
      return wrong("descriptor: CSRC_ = " + text(checked.col_source) + ", and the grid has " + text(shape.cols) +
                   " process columns");
    set_local_sizes(checked);
    return check_memory(checked, "descriptor: LLD_");
  });
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

Index local_size(Index size, Index block, int coordinate, int source, int count) noexcept {
  return Axis{size, block, source, count, 1}.held(coordinate);
}

Index global_row(const DistributedStorage& x, Index local) noexcept {
  return x.grid->row_axis(x).global(local, x.grid->row_of_rank());
}
Index global_col(const DistributedStorage& x, Index local) noexcept {
  return x.grid->col_axis(x).global(local, x.grid->col_of_rank());
}

} // namespace detail
} // namespace tessera
