/// Reads a whole file.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <new>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/uncancelled.hpp>
#include <tessera/files.hpp>
#include <tessera/status.hpp>

#include "descriptor.hpp"

namespace tessera {

std::string read_text_file(const std::filesystem::path& path) try {
  const detail::Uncancelled whole;
  const auto fail = [&](const std::string& why) { throw IoError(path.string() + ": " + why); };
  // O_NONBLOCK: opening a pipe does not wait for a writer.
  const io::Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.is_open()) fail(std::string("cannot be read: ") + std::strerror(errno));
  struct stat status {};
  if (fstat(file.number(), &status) != 0) fail(std::string("cannot be read: ") + std::strerror(errno));
  if (S_ISDIR(status.st_mode)) fail("is a folder, not a file");
  if (!S_ISREG(status.st_mode)) fail("is a pipe or a device, not a file");
  std::string text;
  char bytes[1 << 16];
  for (;;) {
    const ssize_t count = read(file.number(), bytes, sizeof bytes);
    if (count > 0)
      text.append(bytes, static_cast<std::size_t>(count));
    else if (count == 0)
      return text;
    else if (errno != EINTR)
      fail(std::string("cannot be read: ") + std::strerror(errno));
  }
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera
