/// .npy files of distributed matrices: each rank reads and writes its own elements, at their places in the file. The
/// ranks need a file system that they share.

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/uncancelled.hpp>
#include <tessera/distributed/distributed.hpp>
#include <tessera/interop/io.hpp>

#include "agreement.hpp"
#include "core/files/descriptor.hpp"
#include "core/files/file_state.hpp"
#include "core/files/output_file.hpp"
#include "core/files/retry.hpp"
#include "extensions/io/npy_header.hpp"
#include "memory/resident.hpp"
#include "operands.hpp"

namespace tessera::detail {
namespace {

namespace fs = std::filesystem;
using namespace tessera::distributed;

[[noreturn]] void fail(const fs::path& path, const std::string& what, int error) {
  throw IoError(path.string() + ": " + what + ": " + (error == 0 ? "the file ends too early" : std::strerror(error)));
}

/// Reads or writes all of the bytes at a place of a file.
template <class Transfer>
void transfer_all(Transfer&& transfer, char* data, std::size_t bytes, std::size_t place, const fs::path& path,
                  const char* what) {
  while (bytes > 0) {
    errno = 0;
    const ssize_t done = transfer(data, bytes, static_cast<off_t>(place));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) fail(path, std::string(what) + " at byte " + std::to_string(place), errno);
    data += done;
    place += static_cast<std::size_t>(done);
    bytes -= static_cast<std::size_t>(done);
  }
}

/// Calls visit(elements in memory, their place in the file, their number) for each run of this rank's elements that lie
/// next to each other in the file. `x` has the dimension that is contiguous in the file as the inner one.
template <class Visit>
void for_runs(const Source& x, int rank, std::size_t bytes, Visit&& visit) {
  const auto at = coordinates_of(x.spread, rank);
  if (!at) return;
  const Axis &outer = x.spread.outer, &inner = x.spread.inner;
  const Index lines = outer.held(at->outer), length = inner.held(at->inner);
  for (Index line = 0; line < lines; ++line)
    for (Index place = 0, count = 0; place < length; place += count) {
      count = inner.count == 1 ? length : std::min(inner.block - place % inner.block, length - place);
      Elements run = x.elements;
      run.data += static_cast<std::size_t>(line * run.outer_step + place * run.inner_step) * bytes;
      visit(run, outer.global(line, at->outer) * inner.size + inner.global(place, at->inner), count);
    }
}

/// A file that the ranks read, each one through a descriptor of its own.
struct SharedFile {
  const fs::path& path;
  NpyInfo info;
  std::size_t offset = 0; ///< of the first element
  io::Descriptor descriptor;
  io::FileState state;

  /// Reads the header, and opens the file until all elements are read.
  void open_for(DistributedType type) {
    const io::NpyHeader found = io::read_npy_header(path);
    info = type.is_complex ? io::complex_matrix_of(found, path, type.part) : inspect_npy(path, type.part);
    offset = static_cast<std::size_t>(found.data_offset);
    descriptor = io::Descriptor(io::retried([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
    state = io::FileState(descriptor, path);
  }
};

/// Returns IoError on every rank unless all of them have opened one state of the file. Each rank looks at the end
/// whether its file is still in that state, so that all have read the same contents.
Status agree_on_state(Communicator& world, const io::FileState& state) {
  const EqualArgument time[] = {{"the time of change of the file", state.time()}};
  Status status = agree(world, "load_npy", {}, time);
  if (status.code == StatusCode::InvalidArgument) status.code = StatusCode::IoError;
  return status;
}

/// Reads this rank's elements, and throws IoError if the file was changed meanwhile.
void read_own(const DistributedStorage& x, const SharedFile& from) {
  const std::size_t bytes = x.type.bytes();
  std::vector<char> buffer;
  const Source own = source_of(x, !from.info.fortran_order);
  for_runs(own, x.grid->world->rank(), bytes, [&](Elements run, Index first, Index count) {
    buffer.resize(static_cast<std::size_t>(count) * bytes);
    transfer_all([&](char* to, std::size_t n, off_t place) { return pread(from.descriptor.number(), to, n, place); },
                 buffer.data(), buffer.size(), from.offset + static_cast<std::size_t>(first) * bytes, from.path,
                 "cannot be read");
    copy_elements({buffer.data(), 1, 1}, run, 1, count, bytes);
  });
  throw_if_failed(from.state.check_unchanged(from.descriptor, from.path));
}

void write_own(const DistributedStorage& x, const fs::path& path, std::size_t offset) {
  const io::Descriptor file(io::retried([&] { return open(path.c_str(), O_WRONLY | O_CLOEXEC); }));
  if (!file.is_open()) fail(path, "cannot be opened", errno);
  const std::size_t bytes = x.type.bytes();
  std::vector<char> buffer;
  for_runs(source_of(x, true), x.grid->world->rank(), bytes, [&](Elements run, Index first, Index count) {
    buffer.resize(static_cast<std::size_t>(count) * bytes);
    copy_elements(run, {buffer.data(), 1, 1}, 1, count, bytes);
    transfer_all([&](char* from, std::size_t n, off_t place) { return pwrite(file.number(), from, n, place); },
                 buffer.data(), buffer.size(), offset + static_cast<std::size_t>(first) * bytes, path,
                 "cannot be written");
  });
  if (io::retried([&] { return fsync(file.number()); }) != 0) fail(path, "cannot be brought to the disk", errno);
}

/// A path on its way from rank 0 to the others, as a C string.
using SentPath = std::array<char, 4096>;

Status send_path(Communicator& world, std::unique_ptr<SentPath>& path, Requests& requests) {
  Status status = world.broadcast(path->data(), path->size(), 0, requests);
  if (status.ok()) status = world.wait(requests);
  if (!status.ok()) static_cast<void>(path.release()); // MPI may still write to it
  return status;
}

/// Makes the file beside the target, and writes its header.
void begin_file(const fs::path& path, const std::string& header, std::optional<io::OutputFile>& file,
                SentPath& partial) {
  file.emplace(path);
  const fs::path beside = file->partial_path();
  if (beside.empty())
    throw IoError(
        path.string() +
        ": is a pipe or a device, or a file that cannot be replaced; ranks write to places of a file beside it; choose "
        "another name");
  if (beside.native().size() >= partial.size()) throw IoError(path.string() + ": the path is too long");
  std::strncpy(partial.data(), beside.c_str(), partial.size() - 1);
  file->stream() << header;
  file->stream().flush();
}

} // namespace

DistributedPointer load_distributed_npy(const std::shared_ptr<GridState>& grid, const fs::path& path, Blocks blocks,
                                        LocalOrder order, DistributedType type) try {
  const Uncancelled whole;
  const ContractArithmetic contract;
  Communicator& world = *grid->world;
  SharedFile file{path, {}, 0, {}, {}};
  const Status opened = guarded([&] { file.open_for(type); });
  const NpyInfo& info = file.info;
  const EqualArgument arguments[] = {{"the rows of the file", info.rows},
                                     {"the columns of the file", info.cols},
                                     {"the order of the file", std::int64_t{info.fortran_order}}};
  throw_if_failed(agree(world, "load_npy", opened, arguments));
  throw_if_failed(agree_on_state(world, file.state));
  DistributedPointer x = create_distributed(grid, info.rows, info.cols, blocks, order, type);
  throw_if_failed(agree(world, "load_npy", guarded([&] { read_own(*x, file); })));
  return x;
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

/// Rank 0 makes the file beside the target and writes its header. When all ranks have written their elements, it
/// renames the file to the target.
void save_distributed_npy(const DistributedStorage& x, const fs::path& path) try {
  const Uncancelled whole;
  const ContractArithmetic contract;
  Communicator& world = *x.grid->world;
  std::string header;
  std::optional<io::OutputFile> file;
  std::unique_ptr<SentPath> partial;
  Requests requests;
  const Status begun = guarded([&] {
    header = io::npy_header_of(x.type, x.rows, x.cols);
    requests.reserve(requests_of(sizeof(SentPath)));
    partial = std::make_unique<SentPath>();
    if (world.rank() == 0) begin_file(path, header, file, *partial);
  });
  throw_if_failed(agree(world, "save_npy", begun));
  throw_if_failed(send_path(world, partial, requests));
  throw_if_failed(agree(world, "save_npy", guarded([&] {
                          Status status = to_host(x, false);
                          if (status.ok()) write_own(x, partial->data(), header.size());
                          return status;
                        })));
  throw_if_failed(agree(world, "save_npy", guarded([&] {
                          if (file) file->commit();
                        })));
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera::detail
