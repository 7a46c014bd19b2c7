/// Distributed matrices: their memory, and the copies between distributions.

#include <algorithm>
#include <limits>
#include <new>
#include <string>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/distributed.hpp>

#include "agreement.hpp"
#include "matrix/operand.hpp"
#include "operands.hpp"

namespace tessera {

distributed::Source distributed::source_of(const detail::DistributedStorage& x, bool rows_are_outer) noexcept {
  const Axis rows = x.grid->row_axis(x), cols = x.grid->col_axis(x);
  const bool row_major = x.order == LocalOrder::RowMajor;
  char* data = static_cast<char*>(x.data);
  const Index row_step = row_major ? x.ld : 1, col_step = row_major ? 1 : x.ld;
  if (rows_are_outer) return {{rows, cols}, {data, row_step, col_step}, !row_major};
  return {{cols, rows}, {data, col_step, row_step}, row_major};
}

namespace detail {
namespace {

using namespace tessera::distributed;

/// The most bytes of elements of one window in a copy; the sender packs a window at a time.
constexpr Index window_bytes = Index{32} << 20;
constexpr int tag_of_copies = 4;

Index default_block(Index size, int count) { return std::clamp<Index>((size + count - 1) / count, 1, 1024); }

std::string pair(Index x, Index y) { return std::to_string(x) + "×" + std::to_string(y); }

Status wrong(std::string why) { return {StatusCode::InvalidArgument, std::move(why)}; }

Status check_sizes(const DistributedStorage& x) {
  if (x.rows < 0 || x.cols < 0) return wrong("sizes must not be negative, and they are " + pair(x.rows, x.cols));
  if (x.blocks.rows < 1 || x.blocks.cols < 1)
    return wrong("blocks must have at least 1×1 elements, and have " + pair(x.blocks.rows, x.blocks.cols));
  const Index most = std::numeric_limits<std::ptrdiff_t>::max() / static_cast<Index>(x.type.bytes());
  if (x.rows > 0 && x.cols > most / x.rows) return wrong(pair(x.rows, x.cols) + " elements overflow the address space");
  return {};
}

Status agree_on(const char* function, const DistributedStorage& x, const Status& mine) {
  const EqualArgument arguments[] = {{"the rows", x.rows},
                                     {"the columns", x.cols},
                                     {"the rows of a block", x.blocks.rows},
                                     {"the columns of a block", x.blocks.cols},
                                     {"the process row of the first block", std::int64_t{x.row_source}},
                                     {"the process column of the first block", std::int64_t{x.col_source}},
                                     {"the local order", std::int64_t{static_cast<int>(x.order)}}};
  return agree(*x.grid->world, function, mine, arguments);
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
  const bool by_rows = x.order == LocalOrder::RowMajor;
  const Index line = by_rows ? x.local_cols : x.local_rows;
  if (x.ld < std::max<Index>(1, line))
    return wrong(std::string(name_of_ld) + " = " + std::to_string(x.ld) + " is less than the " + std::to_string(line) +
                 (by_rows ? " columns" : " rows") + " that the rank holds");
  if (x.data == nullptr && x.local_rows > 0 && x.local_cols > 0)
    return wrong("the memory is null, but the rank holds " + pair(x.local_rows, x.local_cols) + " elements");
  return {};
}

std::shared_ptr<DistributedStorage> described(const std::shared_ptr<GridState>& grid, Index rows, Index cols,
                                              Blocks blocks, LocalOrder order, DistributedType type) {
  auto x = std::make_shared<DistributedStorage>();
  x->grid = grid;
  x->type = type;
  x->rows = rows;
  x->cols = cols;
  x->blocks = {blocks.rows == 0 ? default_block(rows, grid->shape.rows) : blocks.rows,
               blocks.cols == 0 ? default_block(cols, grid->shape.cols) : blocks.cols};
  x->order = order;
  return x;
}

Status allocate_elements(DistributedStorage& x) {
  x.ld = std::max<Index>(1, x.order == LocalOrder::RowMajor ? x.local_cols : x.local_rows);
  const std::size_t bytes = static_cast<std::size_t>(x.local_rows * x.local_cols) * x.type.bytes();
  if (bytes == 0) return {};
  auto buffers = std::make_shared<HostBuffers>();
  char* memory = nullptr;
  if (Status status = buffers->allocate(bytes, memory); !status.ok()) return status;
  x.data = memory;
  x.memory = std::move(buffers);
  return {};
}

/// Copies window after window. All ranks of `world` call it with equal arguments but for the elements.
Status copy(Communicator& world, const Spread& from, const Elements& source, const Spread& to, const Elements& target,
            std::size_t bytes, bool outer_innermost) {
  const Index cols = from.inner.size, rows = std::max<Index>(1, from.outer.size);
  const Index width = std::clamp<Index>(window_bytes / (rows * static_cast<Index>(bytes)), 1, std::max<Index>(1, cols));
  const MoveKind kind{bytes, outer_innermost, tag_of_copies};
  const auto held_bytes = [&](const Spread& spread, Window window) {
    return static_cast<std::size_t>(elements_held(spread, world.rank(), window)) * bytes;
  };
  Traffic traffic;
  const auto at = coordinates_of(to, world.rank());
  for (Index begin = 0; begin < cols; begin += width) {
    const Window window{begin, std::min(begin + width, cols)};
    HostBuffers buffers;
    char *sent = nullptr, *received = nullptr;
    Requests requests;
    Arrival arrival;
    Status status = buffers.allocate(held_bytes(from, window), sent);
    if (status.ok()) status = buffers.allocate(held_bytes(to, window), received);
    status = agree(world, "distributed copy", status);
    if (status.ok()) status = begin_sending(world, from, source, to, window, kind, sent, requests, traffic);
    if (status.ok()) status = arrival.begin(world, from, to, window, kind, received, requests, traffic);
    if (status.ok()) status = world.wait(requests);
    if (!status.ok()) {
      if (!world.broken().ok()) buffers.abandon();
      return status;
    }
    if (!at) continue;
    Elements part = target;
    part.data += to.inner.held_before(window.begin, at->inner) * part.inner_step * static_cast<Index>(bytes);
    arrival.place(source, part);
  }
  return {};
}

/// A matrix that one rank holds.
Spread on_one_rank(const DistributedStorage& x, int rank) {
  return {{x.rows, std::max<Index>(1, x.rows), 0, 1, 0}, {x.cols, std::max<Index>(1, x.cols), 0, 1, 0}, rank};
}

/// Returns the elements of a matrix on the host, to be read, or to be written.
Elements on_host(const Operand* whole, bool write) {
  if (whole == nullptr || whole->rows == 0 || whole->cols == 0) return {};
  Storage& storage = *whole->storage;
  void* data = write ? storage.host_write() : const_cast<void*>(storage.host_read());
  const Placed placed = place_of(*whole, {data, storage.ld()});
  return {static_cast<char*>(placed.data), placed.ld, 1};
}

Elements elements_of(const WholeMatrix& whole) { return {static_cast<char*>(whole.data), whole.ld, 1}; }

Status check_shape(const Operand* whole, const DistributedStorage& x) {
  if (whole != nullptr && (whole->rows != x.rows || whole->cols != x.cols))
    return wrong("the whole matrix is " + pair(whole->rows, whole->cols) + ", and the distributed matrix is " +
                 pair(x.rows, x.cols));
  return {};
}

Status check_memory(const WholeMatrix& whole, int root, const DistributedStorage& x) {
  if (x.grid->world->rank() != root || x.rows == 0 || x.cols == 0) return {};
  if (whole.data == nullptr) return wrong("the memory of the whole matrix is null on the root");
  if (whole.ld < x.cols)
    return wrong("ld = " + std::to_string(whole.ld) + " of the whole matrix is less than its " +
                 std::to_string(x.cols) + " columns");
  return {};
}

/// All ranks agree on the root, on the matrix, and on what a rank found wrong with the whole matrix.
void agree_on_root(const char* function, const DistributedStorage& x, int root, Status mine) {
  const int ranks = x.grid->world->size();
  if (root < 0 || root >= ranks)
    mine = wrong("root = " + std::to_string(root) + " is no rank; there are " + std::to_string(ranks));
  const EqualArgument arguments[] = {{"root", std::int64_t{root}}, {"the rows", x.rows}, {"the columns", x.cols}};
  throw_if_failed(agree(*x.grid->world, function, mine, arguments));
}

void scatter_from(const Elements& whole, int root, const DistributedStorage& to) {
  const Source target = source_of(to, true);
  throw_if_failed(
      copy(*to.grid->world, on_one_rank(to, root), whole, target.spread, target.elements, to.type.bytes(), false));
}

void gather_to(const DistributedStorage& from, int root, const Elements& whole) {
  const Source source = source_of(from, true);
  throw_if_failed(copy(*from.grid->world, source.spread, source.elements, on_one_rank(from, root), whole,
                       from.type.bytes(), source.outer_innermost));
}

} // namespace

DistributedPointer create_distributed(const std::shared_ptr<GridState>& grid, Index rows, Index cols, Blocks blocks,
                                      LocalOrder order, DistributedType type) try {
  const auto x = described(grid, rows, cols, blocks, order, type);
  throw_if_failed(agree_on("distributed matrix", *x, check_sizes(*x)));
  set_local_sizes(*x);
  throw_if_failed(agree(*grid->world, "distributed matrix", allocate_elements(*x)));
  return x;
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

DistributedPointer wrap_distributed(const std::shared_ptr<GridState>& grid, Index rows, Index cols, Blocks blocks,
                                    const LocalMemory& memory, DistributedType type) try {
  const auto x = described(grid, rows, cols, blocks, memory.order, type);
  x->ld = memory.ld;
  x->data = memory.data;
  Status status = check_sizes(*x);
  if (status.ok()) {
    set_local_sizes(*x);
    status = check_memory(*x, "ld");
  }
  throw_if_failed(agree_on("wrap", *x, status));
  return x;
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

DistributedPointer wrap_distributed(const std::shared_ptr<GridState>& grid, const std::array<int, 9>& descriptor,
                                    void* data, DistributedType type, LocalOrder order) try {
  const auto [kind, context, rows, cols, row_block, col_block, row_source, col_source, ld] = descriptor;
  static_cast<void>(context);
  const auto x = described(grid, rows, cols, {}, order, type);
  x->blocks = {row_block, col_block};
  x->row_source = row_source;
  x->col_source = col_source;
  x->ld = ld;
  x->data = data;
  Status status = check_sizes(*x);
  const auto text = [](int number) { return std::to_string(number); };
  if (status.ok() && kind != 1)
    status = wrong("descriptor: DTYPE_ = " + text(kind) + "; only dense matrices, DTYPE_ = 1, can be wrapped");
  if (status.ok() && (row_source < 0 || row_source >= grid->shape.rows))
    status = wrong("descriptor: RSRC_ = " + text(row_source) + ", and the grid has " + text(grid->shape.rows) +
                   " process rows");
  if (status.ok() && (col_source < 0 || col_source >= grid->shape.cols))
    status = wrong("descriptor: CSRC_ = " + text(col_source) + ", and the grid has " + text(grid->shape.cols) +
                   " process columns");
  if (status.ok()) {
    set_local_sizes(*x);
    status = check_memory(*x, "descriptor: LLD_");
  }
  throw_if_failed(agree_on("wrap", *x, status));
  return x;
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

void scatter(const Operand* whole, int root, const DistributedStorage& to) try {
  agree_on_root("scatter", to, root, check_shape(whole, to));
  scatter_from(on_host(whole, false), root, to);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void scatter(const WholeMatrix& whole, int root, const DistributedStorage& to) try {
  agree_on_root("scatter", to, root, check_memory(whole, root, to));
  scatter_from(elements_of(whole), root, to);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void gather(const DistributedStorage& from, int root, const Operand* whole) try {
  agree_on_root("gather", from, root, check_shape(whole, from));
  gather_to(from, root, on_host(whole, true));
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void gather(const DistributedStorage& from, int root, const WholeMatrix& whole) try {
  agree_on_root("gather", from, root, check_memory(whole, root, from));
  gather_to(from, root, elements_of(whole));
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void redistribute(const DistributedStorage& from, const DistributedStorage& to) try {
  const Communicator &ranks = *from.grid->world, &others = *to.grid->world;
  Status status;
  if (ranks.size() != others.size() || ranks.rank() != others.rank())
    status = wrong("the grids are not of one communicator: this is rank " + std::to_string(ranks.rank()) + " of " +
                   std::to_string(ranks.size()) + " in one, and rank " + std::to_string(others.rank()) + " of " +
                   std::to_string(others.size()) + " in the other");
  else if (from.rows != to.rows || from.cols != to.cols)
    status = wrong("the matrices are " + pair(from.rows, from.cols) + " and " + pair(to.rows, to.cols));
  else if (from.data == to.data && from.data != nullptr)
    status = wrong("a matrix cannot be redistributed to itself");
  throw_if_failed(agree_on("redistribute", from, status));
  throw_if_failed(agree_on("redistribute", to, {}));
  const Source source = source_of(from, true), target = source_of(to, true);
  throw_if_failed(copy(*from.grid->world, source.spread, source.elements, target.spread, target.elements,
                       from.type.bytes(), source.outer_innermost));
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace detail
} // namespace tessera
