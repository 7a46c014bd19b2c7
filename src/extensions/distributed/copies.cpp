/// Copies between distributions of a matrix, and to and from one rank.

#include <algorithm>
#include <new>
#include <string>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/distributed/distributed.hpp>

#include "agreement.hpp"
#include "core/matrix/operand.hpp"
#include "memory/resident.hpp"
#include "operands.hpp"

namespace tessera::detail {
namespace {

using namespace tessera::distributed;

/// The most bytes of elements of one window in a copy; the sender packs a window at a time.
constexpr Index window_bytes = Index{32} << 20;
constexpr int tag_of_copies = 4;

/// Copies window after window. The ranks agree that each has the memory for a window before it is sent. All ranks of
/// `world` call it with equal arguments except for the elements.
Status copy(Communicator& world, const Spread& from, const Elements& source, const Spread& to, const Elements& target,
            std::size_t bytes, bool outer_innermost) {
  const Index cols = from.inner.size, rows = std::max<Index>(1, from.outer.size);
  const Index width = std::clamp<Index>(window_bytes / (rows * static_cast<Index>(bytes)), 1, std::max<Index>(1, cols));
  const MoveKind kind{bytes, outer_innermost, tag_of_copies};
  const auto held_bytes = [&](const Spread& spread, Window window) {
    return static_cast<std::size_t>(elements_held(spread, world.rank(), window)) * bytes;
  };
  Traffic traffic;
  Departure departure;
  Arrival arrival;
  const auto at = coordinates_of(to, world.rank());
  for (Index begin = 0; begin < cols; begin += width) {
    const Window window{begin, std::min(begin + width, cols)};
    HostBuffers buffers;
    char *sent = nullptr, *received = nullptr;
    Requests requests;
    Status status = guarded([&] {
      departure.plan(world.rank(), from, to, window, kind);
      arrival.plan(world.rank(), from, to, window, kind);
      requests.reserve(departure.requests() + arrival.requests());
      Status allocated = buffers.allocate(held_bytes(from, window), sent);
      return allocated.ok() ? buffers.allocate(held_bytes(to, window), received) : allocated;
    });
    status = agree(world, "distributed copy", status);
    if (!status.ok()) return status;
    status = departure.begin(world, source, sent, requests, traffic);
    if (status.ok()) status = arrival.begin(world, received, requests, traffic);
    if (status.ok()) status = world.wait(requests);
    if (!status.ok()) {
      buffers.abandon(); // transfers may be under way
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
    return wrong("the whole matrix is " + text_of_shape(whole->rows, whole->cols) + ", and the distributed matrix is " +
                 text_of_shape(x.rows, x.cols));
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

/// All ranks agree on the root, on the matrix, and on what `check` finds wrong with the whole matrix of this rank.
template <class Check>
void agree_on_root(const char* function, const DistributedStorage& x, int root, Check&& check) {
  const Status mine = guarded([&] {
    const int ranks = x.grid->world->size();
    if (root < 0 || root >= ranks)
      return wrong("root = " + std::to_string(root) + " is no rank; there are " + std::to_string(ranks));
    return check();
  });
  const EqualArgument arguments[] = {{"root", std::int64_t{root}}, {"the rows", x.rows}, {"the columns", x.cols}};
  throw_if_failed(agree(*x.grid->world, function, mine, arguments));
}

/// Agrees on a whole matrix on `root`, and returns its elements there. `writes`: they are overwritten by the ranks'
/// elements, which are brought to the host.
Elements agree_on_whole(const char* function, const DistributedStorage& x, int root, const Operand* whole,
                        bool writes) {
  Elements elements{};
  agree_on_root(function, x, root, [&] {
    Status status = check_shape(whole, x);
    if (status.ok()) elements = on_host(whole, writes);
    return status.ok() && writes ? to_host(x, false) : status;
  });
  return elements;
}

void scatter_from(const Elements& whole, int root, const DistributedStorage& to) {
  const Source target = source_of(to, true);
  written_on_host(to);
  throw_if_failed(
      copy(*to.grid->world, on_one_rank(to, root), whole, target.spread, target.elements, to.type.bytes(), false));
}

void gather_to(const DistributedStorage& from, int root, const Elements& whole) {
  const Source source = source_of(from, true);
  throw_if_failed(copy(*from.grid->world, source.spread, source.elements, on_one_rank(from, root), whole,
                       from.type.bytes(), source.outer_innermost));
}

} // namespace

void scatter(const Operand* whole, int root, const DistributedStorage& to) try {
  scatter_from(agree_on_whole("scatter", to, root, whole, false), root, to);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void scatter(const WholeMatrix& whole, int root, const DistributedStorage& to) try {
  agree_on_root("scatter", to, root, [&] { return check_memory(whole, root, to); });
  scatter_from(elements_of(whole), root, to);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void gather(const DistributedStorage& from, int root, const Operand* whole) try {
  gather_to(from, root, agree_on_whole("gather", from, root, whole, true));
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void gather(const DistributedStorage& from, int root, const WholeMatrix& whole) try {
  agree_on_root("gather", from, root, [&] {
    Status status = check_memory(whole, root, from);
    return status.ok() ? to_host(from, false) : status;
  });
  gather_to(from, root, elements_of(whole));
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void redistribute(const DistributedStorage& from, const DistributedStorage& to) try {
  const Communicator &ranks = *from.grid->world, &others = *to.grid->world;
  const Status status = guarded([&] {
    if (ranks.size() != others.size() || ranks.rank() != others.rank())
      return wrong("the grids are not of one communicator: this is rank " + std::to_string(ranks.rank()) + " of " +
                   std::to_string(ranks.size()) + " in one, and rank " + std::to_string(others.rank()) + " of " +
                   std::to_string(others.size()) + " in the other");
    if (from.rows != to.rows || from.cols != to.cols)
      return wrong("the matrices are " + text_of_shape(from.rows, from.cols) + " and " +
                   text_of_shape(to.rows, to.cols));
    if (from.data == to.data && from.data != nullptr) return wrong("a matrix cannot be redistributed to itself");
    return to_host(from, false);
  });
  throw_if_failed(agree_on_layout("redistribute", from, status));
  throw_if_failed(agree_on_layout("redistribute", to, {}));
  const Source source = source_of(from, true), target = source_of(to, true);
  written_on_host(to);
  throw_if_failed(copy(*from.grid->world, source.spread, source.elements, target.spread, target.elements,
                       from.type.bytes(), source.outer_innermost));
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera::detail
