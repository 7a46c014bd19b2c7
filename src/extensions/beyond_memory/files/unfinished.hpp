#pragma once

/// The files of a product beside its target, from the first call to the one that completes it.

#include <filesystem>
#include <string>
#include <vector>

#include <tessera/status.hpp>
#include <tessera/types.hpp>

#include "core/files/descriptor.hpp"
#include "core/files/output_target.hpp"
#include "journal.hpp"

namespace tessera::files {

/// The file of C, which is computed block by block, and its journal. A lock keeps other programs away from both. What
/// the destructor leaves behind, the next call goes on with, or nothing where no block was done.
class Unfinished {
 public:
  /// Finds out where the files lie. Throws IoError if nothing can be written there.
  explicit Unfinished(const std::filesystem::path& target);
  ~Unfinished();
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

  const io::OutputTarget& target() const noexcept { return target_; }

  /// Reads what an earlier call has left behind; false if there is nothing to go on with. `header` is the one that the
  /// file of C begins with, `bytes` its size. Throws IoError if the files cannot be read, are another user's, or are
  /// being written by another program, and InvalidArgument if the journal is none.
  bool find(const std::string& header, std::uint64_t bytes, Recorded& recorded);

  /// Begins anew: makes a file of this size with this header, reserves its space on the disk, and a journal with these
  /// facts. Throws IoError, for a full disk too, and leaves nothing behind then.
  void begin(const std::string& header, std::uint64_t bytes, const Facts& facts);
  /// Goes on with what find() has found.
  void go_on(const Recorded& recorded);

  /// Writes elements to their place in the file of C.
  Status write(const char* bytes, std::size_t count, std::uint64_t place);
  /// Lets the system begin to bring this part of the file to the disk, so that record() waits less.
  void start_writing(std::uint64_t place, std::uint64_t count) noexcept;
  /// Brings all that was written to the disk, and then records the blocks as done.
  Status record(const std::vector<Index>& blocks);
  /// Renames the file to the target. Throws IoError.
  void commit();

 private:
  void open_locked(bool create);
  void open_journal();
  [[noreturn]] void fail(const std::string& what, int error) const;
  Status failure(const std::string& what, int error) const;

  const std::filesystem::path name_; ///< as the caller wrote it
  const io::OutputTarget target_;
  std::string product_, journal_; ///< names in the folder
  io::Descriptor folder_, file_, log_;
  bool recorded_ = false; ///< a block is done: the files are worth keeping
  bool begun_ = false;
};

} // namespace tessera::files
