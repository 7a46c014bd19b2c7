#include "mpi_traffic.hpp"

#include <dlfcn.h>
#include <mpi.h>
#include <list>
#include <vector>

namespace tessera::test {

MpiTraffic& mpi_traffic() {
  static MpiTraffic traffic;
  return traffic;
}

MpiOnDevices& mpi_on_devices() {
  static MpiOnDevices on_devices;
  return on_devices;
}

namespace {

/// Returns a copy of a message with another bit in its middle. MPI may read it until the program ends.
const void* changed(const void* message, std::size_t bytes) {
  static std::list<std::vector<char>> copies;
  const char* begin = static_cast<const char*>(message);
  std::vector<char>& copy = copies.emplace_back(begin, begin + bytes);
  copy[bytes / 2] ^= 16;
  return copy.data();
}

std::uint64_t bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

void count_broadcast(int count, MPI_Datatype type, int root, MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  if (rank != root) mpi_traffic().received += bytes_of(count, type);
}

} // namespace
} // namespace tessera::test

#pragma GCC visibility push(default) // the libraries have to find them
extern "C" {

int MPI_Recv(void* to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Status own;
  MPI_Status* const known = status == MPI_STATUS_IGNORE ? &own : status;
  const int code = PMPI_Recv(to, count, type, from, tag, comm, known);
  int came = 0;
  PMPI_Get_count(known, type, &came);
  if (came > 0) tessera::test::mpi_traffic().received += tessera::test::bytes_of(came, type);
  return code;
}
int MPI_Isend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  const std::uint64_t bytes = tessera::test::bytes_of(count, type);
  if (tessera::test::mpi_on_devices().changes_messages && bytes > 0) from = tessera::test::changed(from, bytes);
  return PMPI_Isend(from, count, type, to, tag, comm, request);
}
int MPIX_Query_cuda_support(void) {
  if (const std::optional<int> answer = tessera::test::mpi_on_devices().answer) return *answer;
  void* const own = dlsym(RTLD_NEXT, "MPIX_Query_cuda_support");
  return own == nullptr ? 0 : reinterpret_cast<int (*)()>(own)();
}
int MPI_Irecv(void* to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  tessera::test::mpi_traffic().received += tessera::test::bytes_of(count, type);
  return PMPI_Irecv(to, count, type, from, tag, comm, request);
}
int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  tessera::test::count_broadcast(count, type, root, comm);
  return PMPI_Bcast(data, count, type, root, comm);
}
int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  tessera::test::count_broadcast(count, type, root, comm);
  return PMPI_Ibcast(data, count, type, root, comm, request);
}
int MPI_Reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  tessera::test::mpi_traffic().reduced += tessera::test::bytes_of(count, type);
  return PMPI_Reduce(from, to, count, type, op, root, comm);
}
int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  tessera::test::mpi_traffic().reduced += tessera::test::bytes_of(count, type);
  return PMPI_Allreduce(from, to, count, type, op, comm);
}
}
#pragma GCC visibility pop
