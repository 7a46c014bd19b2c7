#pragma once

/// What libtessera needs of MPI. A plug-in libtessera_mpi_<name>.so implements it with one MPI library, so that
/// libtessera itself links none.
///
/// A plug-in exports
///
///     extern "C" const tessera::distributed::MpiPluginInfo* tessera_mpi_plugin() noexcept;
///
/// Every wait ends within the time limit of the communicator. After a failure the communicator, and every one that was
/// split from it, is broken: later calls fail at once, and MPI may still use the memory of the transfers.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <tessera/backend/build_tag.hpp>
#include <tessera/backend/plugin.hpp>
#include <tessera/status.hpp>

namespace tessera::distributed {

/// Transfers under way, in a form that does not depend on the MPI library.
using Requests = std::vector<std::uint64_t>;

/// MPI counts in int: larger transfers are cut.
inline constexpr std::size_t most_bytes_of_transfer = std::size_t{1} << 30;

/// Returns how many requests a transfer of so many bytes takes. A list with room for them does not grow.
constexpr std::size_t requests_of(std::size_t bytes) noexcept { return bytes / most_bytes_of_transfer + 1; }

/// What MPI allows the threads of the process to do.
enum class ThreadLevel : int {
  Single = 0,     ///< the process may have one thread
  Funneled = 1,   ///< one thread calls MPI, the main one
  Serialized = 2, ///< any thread calls MPI, one at a time
  Multiple = 3,   ///< any threads call MPI
};

/// Does the MPI take pointers to memory of a device?
enum class DevicePointers : int {
  Unknown = 0, ///< it does not say
  Refused = 1,
  Taken = 2,
};

/// What an agreement needs. A communicator has it from the beginning, so that a rank whose memory is short can still
/// tell the others. MPI may write to it as long as the communicator is broken.
struct AgreementMemory {
  static constexpr std::size_t most_numbers = 128;
  AgreementMemory() { requests.reserve(1); }

  std::array<std::int64_t, most_numbers> mine{}, largest{};
  int failure_code = 0;
  std::array<char, 512> failure_text{}; ///< ends with 0; longer texts are cut
  Requests requests;
};

/// A group of ranks with a communication context of its own. Sizes are in bytes; ranks count from 0.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;
  /// Returns the level with which MPI was initialised.
  virtual ThreadLevel thread_level() const noexcept = 0;
  /// Is the calling thread the one that initialised MPI?
  virtual bool on_main_thread() const noexcept = 0;
  /// Returns the address of the MPI_Comm, for libraries that are built with this MPI.
  virtual const void* native() const noexcept = 0;
  /// Returns what the MPI says of pointers to memory of a CUDA device.
  virtual DevicePointers device_pointers() const noexcept = 0;
  /// Returns why the communicator is broken; Ok as long as it is not.
  virtual Status broken() const noexcept = 0;

  /// Makes communicators of the ranks that pass one color, in the order of `key`. All ranks call it. A rank with a
  /// negative color gets none.
  virtual Status split(int color, int key, std::unique_ptr<Communicator>& part) noexcept = 0;

  /// Begins to send the root's bytes to all ranks. The transfers are appended to `requests`.
  virtual Status broadcast(void* data, std::size_t bytes, int root, Requests& requests) noexcept = 0;
  /// Begins to send.
  virtual Status send(const void* data, std::size_t bytes, int to, int tag, Requests& requests) noexcept = 0;
  /// Begins to receive as many bytes as are sent with this tag.
  virtual Status receive(void* data, std::size_t bytes, int from, int tag, Requests& requests) noexcept = 0;
  /// Lets MPI work on the transfers, and does not wait. Transfers that are done stay in the list. Sets whether all of
  /// them are done.
  virtual Status progress(Requests& requests, bool& done) noexcept = 0;
  /// Waits until the transfers are done, and empties the list.
  virtual Status wait(Requests& requests) noexcept = 0;

  /// Replaces each value by the largest one of all ranks. There are at most AgreementMemory::most_numbers. The function
  /// allocates nothing.
  virtual Status largest(std::int64_t* values, int count) noexcept = 0;

  std::uint64_t agreements = 0; ///< calls of largest()
  std::unique_ptr<AgreementMemory> for_agreements = std::make_unique<AgreementMemory>();
};

/// This number is raised whenever a type that crosses the boundary changes.
inline constexpr std::uint32_t mpi_plugin_abi_version = 4;

/// The description of a plug-in. All of it is constant and valid until the process ends.
struct MpiPluginInfo {
  std::uint32_t struct_size; ///< sizeof(MpiPluginInfo) when the plug-in was compiled
  std::uint32_t abi_version; ///< mpi_plugin_abi_version when the plug-in was compiled
  const char* build_tag;     ///< TESSERA_BUILD_TAG when the plug-in was compiled
  const char* name;          ///< the `<name>` of the file
  std::size_t comm_size;     ///< bytes of an MPI_Comm
  /// Duplicates an MPI_Comm, given by the address of its handle and the handle's size. All ranks of it call the
  /// function. A wait fails after `time_limit` seconds.
  Status (*open)(const void* comm, std::size_t size, double time_limit, std::unique_ptr<Communicator>& opened) noexcept;
  /// Returns the calling process's rank in an MPI_Comm that open() would take; −1 if it is no communicator.
  int (*rank_in)(const void* comm, std::size_t size) noexcept;
  /// Duplicates the part of an MPI_Comm that has these ranks, in this order. Only they call it.
  Status (*open_part)(const void* comm, std::size_t size, const int* ranks, int count, double time_limit,
                      std::unique_ptr<Communicator>& opened) noexcept;
  /// Initialises MPI for a program that does not do it, with MPI_THREAD_FUNNELED. Returns the address of
  /// MPI_COMM_WORLD's handle and sets its size; null where MPI could not be initialised.
  const void* (*start)(std::size_t& size) noexcept;
  /// Ends what start() began.
  void (*stop)() noexcept;
  const char* bound_to = &library_mark; ///< as in PluginInfo
};

using MpiPluginEntry = const MpiPluginInfo* (*)(); ///< The type of tessera_mpi_plugin().
/// The name of the function that a plug-in exports.
inline constexpr const char* mpi_plugin_entry_name = "tessera_mpi_plugin";

} // namespace tessera::distributed
