#pragma once

/// Memory that a process shares with its children: a mapped file of the scratch folder, which the judge counts.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cstdlib>
#include <string>

/// Maps `bytes` bytes, at `address` unless it is null. Returns null if that fails.
inline void* share(std::size_t bytes, void* address = nullptr) {
  const std::string path = std::string(std::getenv("TMPDIR")) + "/shared_" + std::to_string(getpid());
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (file < 0) return nullptr;
  void* mapped = MAP_FAILED;
  if (ftruncate(file, static_cast<off_t>(bytes)) == 0)
    mapped = mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (address == nullptr ? 0 : MAP_FIXED), file, 0);
  close(file);
  unlink(path.c_str());
  return mapped == MAP_FAILED ? nullptr : mapped;
}
