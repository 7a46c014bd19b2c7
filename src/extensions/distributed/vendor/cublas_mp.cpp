#include "cublas_mp.hpp"

#include <memory>

#include <tessera/detail/found_once.hpp>

#include "extensions/distributed/agreement.hpp"
#include "library.hpp"

namespace tessera::distributed {

const CublasMp& CublasMp::library() {
  static constinit tessera::detail::FoundOnce<const CublasMp> opened;
  return opened.get([] {
    auto found = std::make_unique<CublasMp>();
    CublasMp& x = *found;
    VendorLibrary nccl("NCCL", {"libnccl.so.2"}), mp("cuBLASMp", {"libcublasmp.so.0"});
    nccl.find("ncclGetUniqueId", x.nccl_unique_id);
    nccl.find("ncclCommInitRank", x.nccl_init_rank);
    nccl.find("ncclCommDestroy", x.nccl_destroy);
    mp.find("cublasMpCreate", x.create);
    mp.find("cublasMpDestroy", x.destroy);
    mp.find("cublasMpGridCreate", x.create_grid);
    mp.find("cublasMpGridDestroy", x.destroy_grid);
    mp.find("cublasMpMatrixDescriptorCreate", x.create_matrix);
    mp.find("cublasMpMatrixDescriptorDestroy", x.destroy_matrix);
    mp.find("cublasMpGemm_bufferSize", x.gemm_sizes);
    mp.find("cublasMpGemm", x.gemm);
    x.missing = nccl.missing().empty() ? mp.missing() : nccl.missing();
    return found;
  });
}

CublasMpSession::~CublasMpSession() {
  const CublasMp& library = CublasMp::library();
  if (grid_ != nullptr) library.destroy_grid(grid_);
  if (handle_ != nullptr) library.destroy(handle_);
  if (comm_ != nullptr) library.nccl_destroy(comm_);
}

/// Each step that waits for the other ranks comes after all of them have agreed that the one before went well.
Status CublasMpSession::connect(Communicator& world, int rows, int cols) {
  constexpr const char* name = "cublasmp";
  const CublasMp& library = CublasMp::library();
  NcclId id{};
  Status status = world.rank() == 0 ? vendor_status(library.nccl_unique_id(&id), "ncclGetUniqueId") : Status{};
  if (status = agree(world, name, status); !status.ok()) return status;
  Requests requests;
  status = world.broadcast(&id, sizeof id, 0, requests);
  if (status.ok()) status = world.wait(requests);
  if (!status.ok()) return status;
  status = vendor_status(library.nccl_init_rank(&comm_, world.size(), id, world.rank()), "ncclCommInitRank");
  if (status.ok())
    status = vendor_status(library.create(&handle_, executor_.default_queue().native()), "cublasMpCreate");
  if (status = agree(world, name, status); !status.ok()) return status;
  return agree(world, name,
               vendor_status(library.create_grid(rows, cols, layout_, comm_, &grid_), "cublasMpGridCreate"));
}

} // namespace tessera::distributed
