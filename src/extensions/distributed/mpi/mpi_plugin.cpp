/// Implements the communicator with the MPI library that the file is compiled against: one source, one plug-in for each
/// library. TESSERA_MPI_NAME is the plug-in's name.
///
/// All transfers are non-blocking and are tested in turns with yielding the processor, so that a wait can end at its
/// time limit, and ranks that share a core let each other run.

#include "communicator.hpp"

#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>
#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include <tessera/backend/out_of_memory.hpp>

/// Open MPI and MPICH have it as an extension. It is null where the MPI has none.
extern "C" __attribute__((weak)) int MPIX_Query_cuda_support(void);

namespace tessera::distributed {
namespace {

/// What a communicator shares with the ones that were split from it.
struct Family {
  double time_limit = 0;
  Status failure; ///< the first one
};

// In Open MPI both are pointers to what only MPI knows.
constexpr std::size_t comm_size = sizeof(MPI_Comm);       // NOLINT(bugprone-sizeof-expression)
constexpr std::size_t request_size = sizeof(MPI_Request); // NOLINT(bugprone-sizeof-expression)
static_assert(request_size <= sizeof(std::uint64_t));

MPI_Request request_of(std::uint64_t bits) {
  MPI_Request request;
  std::memcpy(&request, &bits, request_size);
  return request;
}
std::uint64_t bits_of(MPI_Request request) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &request, request_size);
  return bits;
}

bool mpi_is_running() {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  return begun != 0 && ended == 0;
}

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator(MPI_Comm comm, std::shared_ptr<Family> family) : comm_(comm), family_(std::move(family)) {
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  /// A broken communicator is not freed, because MPI may still work in it and in the memory of its agreements.
  ~MpiCommunicator() override {
    if (!family_->failure.ok())
      static_cast<void>(for_agreements.release());
    else if (mpi_is_running())
      MPI_Comm_free(&comm_);
  }

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  ThreadLevel thread_level() const noexcept override {
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    return level >= MPI_THREAD_MULTIPLE     ? ThreadLevel::Multiple
           : level >= MPI_THREAD_SERIALIZED ? ThreadLevel::Serialized
           : level >= MPI_THREAD_FUNNELED   ? ThreadLevel::Funneled
                                            : ThreadLevel::Single;
  }
  bool on_main_thread() const noexcept override {
    int main = 0;
    MPI_Is_thread_main(&main);
    return main != 0;
  }
  const void* native() const noexcept override { return &comm_; }
  DevicePointers device_pointers() const noexcept override {
    if (&MPIX_Query_cuda_support == nullptr) return DevicePointers::Unknown;
    return MPIX_Query_cuda_support() == 1 ? DevicePointers::Taken : DevicePointers::Refused;
  }
  Status broken() const noexcept override { return copy_of_failure(); }

  Status split(int color, int key, std::unique_ptr<Communicator>& part) noexcept override try {
    if (!family_->failure.ok()) return copy_of_failure();
    MPI_Comm made = MPI_COMM_NULL;
    const int code = MPI_Comm_split(comm_, color < 0 ? MPI_UNDEFINED : color, key, &made);
    if (code != MPI_SUCCESS) return fail("MPI_Comm_split", code);
    if (made != MPI_COMM_NULL) part = std::make_unique<MpiCommunicator>(made, family_);
    return {};
  } catch (const std::bad_alloc& error) {
    return out_of_memory(error);
  }

  Status broadcast(void* data, std::size_t bytes, int root, Requests& requests) noexcept override {
    return in_pieces(bytes, requests, "MPI_Ibcast", [&](std::size_t first, int count, MPI_Request& request) {
      return MPI_Ibcast(static_cast<char*>(data) + first, count, MPI_BYTE, root, comm_, &request);
    });
  }
  Status send(const void* data, std::size_t bytes, int to, int tag, Requests& requests) noexcept override {
    return in_pieces(bytes, requests, "MPI_Isend", [&](std::size_t first, int count, MPI_Request& request) {
      return MPI_Isend(static_cast<const char*>(data) + first, count, MPI_BYTE, to, tag, comm_, &request);
    });
  }
  Status receive(void* data, std::size_t bytes, int from, int tag, Requests& requests) noexcept override {
    return in_pieces(bytes, requests, "MPI_Irecv", [&](std::size_t first, int count, MPI_Request& request) {
      return MPI_Irecv(static_cast<char*>(data) + first, count, MPI_BYTE, from, tag, comm_, &request);
    });
  }

  Status progress(Requests& requests, bool& done) noexcept override { return test(requests, done); }

  Status wait(Requests& requests) noexcept override {
    const double start = MPI_Wtime();
    for (long turn = 0;; ++turn) {
      bool done = false;
      if (Status status = test(requests, done); !status.ok()) return status;
      if (done) break;
      if (turn % 64 == 63 && MPI_Wtime() - start > family_->time_limit) return time_out();
      if (turn > 16) sched_yield();
    }
    requests.clear();
    return {};
  }

  Status largest(std::int64_t* values, int count) noexcept override {
    if (!family_->failure.ok()) return copy_of_failure();
    ++agreements;
    AgreementMemory& memory = *for_agreements;
    std::copy_n(values, count, memory.mine.data());
    MPI_Request request = MPI_REQUEST_NULL;
    const int code =
        MPI_Iallreduce(memory.mine.data(), memory.largest.data(), count, MPI_INT64_T, MPI_MAX, comm_, &request);
    if (code != MPI_SUCCESS) return fail("MPI_Iallreduce", code);
    memory.requests.assign(1, bits_of(request));
    if (Status status = wait(memory.requests); !status.ok()) return status;
    std::copy_n(memory.largest.data(), count, values);
    return {};
  }

 private:
  template <class Begin>
  Status in_pieces(std::size_t bytes, Requests& requests, const char* function, Begin&& begin) noexcept try {
    if (!family_->failure.ok()) return copy_of_failure();
    if (const std::size_t needed = requests.size() + requests_of(bytes); needed > requests.capacity())
      requests.reserve(needed);
    for (std::size_t first = 0; first < bytes; first += most_bytes_of_transfer) {
      MPI_Request request = MPI_REQUEST_NULL;
      const int code = begin(first, static_cast<int>(std::min(most_bytes_of_transfer, bytes - first)), request);
      if (code != MPI_SUCCESS) return fail(function, code);
      requests.push_back(bits_of(request));
    }
    return {};
  } catch (const std::bad_alloc& error) {
    return out_of_memory(error);
  }

  /// Tests the transfers that are not done, up to the first one that is still under way.
  Status test(Requests& requests, bool& done) noexcept {
    if (!family_->failure.ok()) return copy_of_failure();
    done = true;
    for (std::uint64_t& bits : requests) {
      MPI_Request request = request_of(bits);
      if (request == MPI_REQUEST_NULL) continue;
      int complete = 0;
      const int code = MPI_Test(&request, &complete, MPI_STATUS_IGNORE);
      bits = bits_of(request);
      if (code != MPI_SUCCESS) return fail("MPI_Test", code);
      if (complete == 0) done = false;
    }
    return {};
  }

  Status copy_of_failure() const noexcept try { return family_->failure; } catch (const std::bad_alloc&) {
    return {family_->failure.code, {}};
  }
  Status fail(const char* function, int code) noexcept try {
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    family_->failure.code = StatusCode::DeviceError;
    family_->failure.why = std::string(function) + " failed: " + std::string(text, static_cast<std::size_t>(length)) +
                           "; the grid cannot be used any more";
    return family_->failure;
  } catch (const std::bad_alloc&) {
    family_->failure.code = StatusCode::DeviceError;
    return {StatusCode::DeviceError, {}};
  }
  Status time_out() noexcept try {
    family_->failure.code = StatusCode::DeviceError;
    family_->failure.why = "waited " + std::to_string(family_->time_limit) +
                           " s for another rank, the time limit of the grid; has a rank ended? The grid cannot be used "
                           "any more. If the ranks were only slow, make the grid with a larger time_limit";
    return family_->failure;
  } catch (const std::bad_alloc&) {
    family_->failure.code = StatusCode::DeviceError;
    return {StatusCode::DeviceError, {}};
  }

  MPI_Comm comm_;
  std::shared_ptr<Family> family_;
  int rank_ = 0, size_ = 1;
};

/// Duplicates the caller's communicator without blocking, so that a missing rank is noticed.
Status duplicate(MPI_Comm comm, double time_limit, MPI_Comm& made) {
  MPI_Request request = MPI_REQUEST_NULL;
  auto* place = new MPI_Comm(MPI_COMM_NULL); // MPI writes to it later, also after a wait that fails
  if (MPI_Comm_idup(comm, place, &request) != MPI_SUCCESS)
    return {StatusCode::DeviceError, "MPI_Comm_idup failed for the communicator of the grid"};
  const double start = MPI_Wtime();
  for (int complete = 0;;) {
    if (MPI_Test(&request, &complete, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return {StatusCode::DeviceError, "MPI_Comm_idup failed for the communicator of the grid"};
    if (complete != 0) break;
    if (MPI_Wtime() - start > time_limit)
      return {StatusCode::DeviceError, "waited " + std::to_string(time_limit) +
                                           " s for the other ranks to make the grid; all ranks of the communicator "
                                           "must make it"};
    sched_yield();
  }
  made = *place;
  delete place;
  return {};
}

Status open(const void* handle, std::size_t size, double time_limit, std::unique_ptr<Communicator>& opened) noexcept
    try {
  if (size != comm_size)
    return {StatusCode::InvalidArgument,
            "the communicator has " + std::to_string(size) + " bytes, and MPI_Comm of " TESSERA_MPI_NAME " has " +
                std::to_string(comm_size) + "; was the program compiled with another MPI than it runs with?"};
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  if (begun == 0)
    return {StatusCode::InvalidArgument, "MPI is not initialised; call MPI_Init_thread before the grid is made"};
  if (ended != 0)
    return {StatusCode::InvalidArgument, "MPI was finalised; make the grid, and end it, before MPI_Finalize"};
  MPI_Comm comm;
  std::memcpy(&comm, handle, comm_size);
  if (comm == MPI_COMM_NULL)
    return {StatusCode::InvalidArgument, "the communicator is MPI_COMM_NULL; pass one that the rank belongs to"};
  int inter = 0;
  MPI_Comm_test_inter(comm, &inter);
  if (inter != 0)
    return {StatusCode::InvalidArgument, "the communicator is an intercommunicator; merge it by MPI_Intercomm_merge"};
  MPI_Comm made = MPI_COMM_NULL;
  if (Status status = duplicate(comm, time_limit, made); !status.ok()) return status;
  opened = std::make_unique<MpiCommunicator>(made, std::make_shared<Family>(Family{time_limit, {}}));
  return {};
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

int rank_in(const void* handle, std::size_t size) noexcept {
  MPI_Comm comm;
  if (size != comm_size || !mpi_is_running()) return -1;
  std::memcpy(&comm, handle, comm_size);
  int rank = -1;
  if (comm != MPI_COMM_NULL) MPI_Comm_rank(comm, &rank);
  return rank;
}

Status open_part(const void* handle, std::size_t size, const int* ranks, int count, double time_limit,
                 std::unique_ptr<Communicator>& opened) noexcept {
  if (rank_in(handle, size) < 0)
    return {StatusCode::InvalidArgument, "the context's communicator is none of " TESSERA_MPI_NAME};
  MPI_Comm comm;
  std::memcpy(&comm, handle, comm_size);
  MPI_Group all = MPI_GROUP_NULL, part = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &all);
  MPI_Group_incl(all, count, ranks, &part);
  constexpr int tag = 7381; // of no other call
  MPI_Comm made = MPI_COMM_NULL;
  const int code = MPI_Comm_create_group(comm, part, tag, &made);
  MPI_Group_free(&all);
  MPI_Group_free(&part);
  if (code != MPI_SUCCESS || made == MPI_COMM_NULL)
    return {StatusCode::DeviceError, "MPI_Comm_create_group failed for the ranks of a grid"};
  Status status = open(&made, comm_size, time_limit, opened);
  MPI_Comm_free(&made);
  return status;
}

/// Open MPI loads parts of itself that look for its symbols in the global scope, where a plug-in's libraries are not.
void make_mpi_global() {
  Dl_info library{};
  if (dladdr(reinterpret_cast<void*>(&MPI_Init_thread), &library) != 0 && library.dli_fname != nullptr)
    dlopen(library.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

const void* start(std::size_t& size) noexcept {
  static MPI_Comm world = MPI_COMM_NULL;
  make_mpi_global();
  int begun = 0, provided = 0;
  MPI_Initialized(&begun);
  if (begun == 0 && MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) return nullptr;
  world = MPI_COMM_WORLD;
  size = comm_size;
  return &world;
}

void stop() noexcept {
  if (mpi_is_running()) MPI_Finalize();
}

constexpr MpiPluginInfo info{sizeof(MpiPluginInfo),
                             mpi_plugin_abi_version,
                             TESSERA_BUILD_TAG,
                             TESSERA_MPI_NAME,
                             comm_size,
                             open,
                             rank_in,
                             open_part,
                             start,
                             stop};

} // namespace
} // namespace tessera::distributed

extern "C" __attribute__((visibility("default"))) const tessera::distributed::MpiPluginInfo*
tessera_mpi_plugin() noexcept {
  return &tessera::distributed::info;
}
