#pragma once

/// cuBLASMp, NVIDIA's products of matrices over the GPUs of many ranks, and NCCL, by which its ranks talk. Handles are
/// addresses here, and enumerations are numbers.

#include <cstddef>
#include <cstdint>
#include <string>

#include <tessera/executor.hpp>

#include "extensions/distributed/mpi/communicator.hpp"

namespace tessera::distributed {

/// ncclUniqueId
struct NcclId {
  char bytes[128];
};

/// The functions, as in cublasmp.h 0.10 and nccl.h 2.29.
struct CublasMp {
  std::string missing; ///< why they cannot be called; empty if they can

  int (*nccl_unique_id)(NcclId* id);
  int (*nccl_init_rank)(void** comm, int ranks, NcclId id, int rank);
  int (*nccl_destroy)(void* comm);

  int (*create)(void** handle, void* stream);
  int (*destroy)(void* handle);
  int (*create_grid)(std::int64_t rows, std::int64_t cols, int layout, void* comm, void** grid);
  int (*destroy_grid)(void* grid);
  int (*create_matrix)(std::int64_t m, std::int64_t n, std::int64_t mb, std::int64_t nb, std::int64_t row_source,
                       std::int64_t col_source, std::int64_t ld, int type, void* grid, void** matrix);
  int (*destroy_matrix)(void* matrix);
  int (*gemm_sizes)(void* handle, int op_a, int op_b, std::int64_t m, std::int64_t n, std::int64_t k, const void* alpha,
                    const void* a, std::int64_t ia, std::int64_t ja, void* matrix_a, const void* b, std::int64_t ib,
                    std::int64_t jb, void* matrix_b, const void* beta, void* c, std::int64_t ic, std::int64_t jc,
                    void* matrix_c, int compute_type, std::size_t* device_bytes, std::size_t* host_bytes);
  int (*gemm)(void* handle, int op_a, int op_b, std::int64_t m, std::int64_t n, std::int64_t k, const void* alpha,
              const void* a, std::int64_t ia, std::int64_t ja, void* matrix_a, const void* b, std::int64_t ib,
              std::int64_t jb, void* matrix_b, const void* beta, void* c, std::int64_t ic, std::int64_t jc,
              void* matrix_c, int compute_type, void* device_work, std::size_t device_bytes, void* host_work,
              std::size_t host_bytes);

  /// Opens the libraries when it is first called.
  static const CublasMp& library();
};

/// cublasMpGridLayout_t, cublasOperation_t, cudaDataType_t and cublasComputeType_t.
enum CublasMpWord : int { by_columns = 0, by_rows = 1, as_stored = 0, transposed = 1, real_f32 = 0, real_f64 = 1 };
inline constexpr int compute_f32 = 68, compute_f64 = 70;

/// A communicator of NCCL and a grid of cuBLASMp over the ranks of an MPI communicator, each with its own GPU.
class CublasMpSession {
 public:
  CublasMpSession(Executor& executor, int layout) : executor_(executor), layout_(layout) {}
  ~CublasMpSession();
  CublasMpSession(const CublasMpSession&) = delete;
  CublasMpSession& operator=(const CublasMpSession&) = delete;

  /// Connects the ranks. All of them call it, on a thread on which the executor's device is the current one.
  Status connect(Communicator& world, int rows, int cols);
  bool fits(const Executor& executor, int layout) const noexcept {
    return &executor_ == &executor && layout_ == layout;
  }
  void* handle() const noexcept { return handle_; }
  void* grid() const noexcept { return grid_; }

 private:
  Executor& executor_;
  const int layout_;
  void *comm_ = nullptr, *handle_ = nullptr, *grid_ = nullptr;
};

} // namespace tessera::distributed
