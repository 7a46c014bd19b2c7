#pragma once

#include <mpi.h>
#include <unistd.h>
#include <filesystem>
#include <string>

#include "ranks.hpp"

namespace tessera::test {

/// A folder that all ranks know, and that rank 0 removes.
class SharedFolder {
 public:
  SharedFolder() {
    long process = getpid();
    MPI_Bcast(&process, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    path_ = std::filesystem::temp_directory_path() / ("tessera-distributed-" + std::to_string(process));
    if (world_rank() == 0) std::filesystem::create_directory(path_);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~SharedFolder() {
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank() == 0) std::filesystem::remove_all(path_);
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

} // namespace tessera::test
