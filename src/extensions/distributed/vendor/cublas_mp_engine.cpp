/// cublasmp: cuBLASMp's product, as a yardstick. Each rank has a GPU of its own. The local elements are copied to it,
/// NVIDIA's library multiplies over NCCL, and the sums come back; the report's seconds_multiplying is the time of
/// the product alone, whose operands lie on the GPUs. The order of the sums is the library's, and so are the bits.
///
/// Source: NVIDIA, cuBLASMp.

#include <array>
#include <vector>

#include <tessera/detail/stopwatch.hpp>

#include "core/executor/executor_memory.hpp"
#include "cublas_mp.hpp"
#include "extensions/distributed/agreement.hpp"
#include "extensions/distributed/dealt.hpp"
#include "extensions/distributed/grid_state.hpp"
#include "library.hpp"

namespace tessera::distributed {
namespace {

using tessera::detail::ExecutorMemory;
using tessera::detail::GridState;

/// A matrix on a rank's GPU, without gaps, and its descriptor.
struct OnGpu {
  OnGpu(Executor& executor, const Dealt& on_host, int row, int col, std::size_t bytes)
      : host(on_host), rows(on_host.rows.held(row)), cols(on_host.cols.held(col)), element(bytes), memory(executor) {}
  ~OnGpu() {
    if (descriptor != nullptr) CublasMp::library().destroy_matrix(descriptor);
  }
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;

  std::size_t bytes() const noexcept { return static_cast<std::size_t>(rows * cols) * element; }
  std::size_t row_bytes() const noexcept { return static_cast<std::size_t>(rows) * element; }
  std::size_t host_pitch() const noexcept { return static_cast<std::size_t>(host.ld) * element; }
  Status describe(void* grid, int type) {
    return vendor_status(CublasMp::library().create_matrix(host.rows.size, host.cols.size, host.rows.block,
                                                           host.cols.block, host.rows.source, host.cols.source,
                                                           std::max<Index>(rows, 1), type, grid, &descriptor),
                         "cublasMpMatrixDescriptorCreate");
  }

  Dealt host;
  Index rows, cols; ///< of this rank, rows being contiguous
  std::size_t element;
  ExecutorMemory memory;
  void* descriptor = nullptr;
};

/// The shape of the grid for column-major matrices, and how its ranks are numbered.
struct ColumnMajorGrid {
  explicit ColumnMajorGrid(const DistributedProduct& product)
      : is_transposed(product.order == LocalOrder::RowMajor),
        rows(is_transposed ? product.grid.shape.cols : product.grid.shape.rows),
        cols(is_transposed ? product.grid.shape.rows : product.grid.shape.cols),
        row(is_transposed ? product.grid.col_of_rank() : product.grid.row_of_rank()),
        col(is_transposed ? product.grid.row_of_rank() : product.grid.col_of_rank()) {}
  int layout() const noexcept { return is_transposed ? by_columns : by_rows; }

  bool is_transposed;
  int rows, cols, row, col;
};

class CublasMpRun final : public EngineRun {
 public:
  explicit CublasMpRun(const DistributedProduct& product)
      : product_(product),
        grid_(product),
        left_is_a_(!grid_.is_transposed),
        left_(*product.executor, dealt(left()), grid_.row, grid_.col, product.type.bytes()),
        right_(*product.executor, dealt(right()), grid_.row, grid_.col, product.type.bytes()),
        sums_(*product.executor, dealt_sums(product, nullptr), grid_.row, grid_.col, product.type.bytes()),
        work_(*product.executor) {}

  std::size_t bytes() const noexcept override { return 0; }
  /// The library's own workspace is not counted.
  std::size_t device_bytes() const noexcept override { return left_.bytes() + right_.bytes() + sums_.bytes(); }
  std::optional<std::uint64_t> bytes_expected() const noexcept override { return {}; } // NCCL does not count
  Status allocate(HostBuffers&, char* sums) override {
    sums_.host.data = sums;
    for (OnGpu* x : {&left_, &right_, &sums_})
      if (Status status = x->memory.allocate(std::max<std::size_t>(x->bytes(), 1)); !status.ok()) return status;
    return {};
  }
  Status run(DistributedReport& report) override;

 private:
  const Source& left() const noexcept { return left_is_a_ ? product_.a : product_.b; }
  const Source& right() const noexcept { return left_is_a_ ? product_.b : product_.a; }
  Status connect();
  Status copy_in();
  Status prepare();
  template <class T>
  Status multiply(bool only_sizes);
  Status multiply(bool only_sizes) {
    return product_.type.part == DType::F64 ? multiply<double>(only_sizes) : multiply<float>(only_sizes);
  }

  const DistributedProduct product_;
  const ColumnMajorGrid grid_;
  const bool left_is_a_;
  OnGpu left_, right_, sums_;
  ExecutorMemory work_;
  std::vector<char> host_work_;
  std::size_t work_bytes_ = 0, host_work_bytes_ = 0;
  CublasMpSession* session_ = nullptr;
};

/// Connects the ranks at the first product of a grid; the connection is kept with the grid.
Status CublasMpRun::connect() {
  auto& kept = const_cast<GridState&>(product_.grid).cublas_mp;
  if (anywhere(product_, kept == nullptr || !kept->fits(*product_.executor, grid_.layout()))) {
    kept = std::make_shared<CublasMpSession>(*product_.executor, grid_.layout());
    if (Status status = kept->connect(*product_.grid.world, grid_.rows, grid_.cols); !status.ok()) {
      kept = nullptr;
      return status;
    }
  }
  session_ = kept.get();
  return {};
}

Status CublasMpRun::copy_in() {
  Executor& executor = *product_.executor;
  for (OnGpu* x : {&left_, &right_})
    if (x->bytes() > 0)
      if (Status status = executor.copy_in(executor.default_queue(), x->memory.data(), x->row_bytes(), x->host.data,
                                           x->host_pitch(), x->row_bytes(), static_cast<std::size_t>(x->cols));
          !status.ok())
        return status;
  return {};
}

/// Makes the descriptors and the workspace.
Status CublasMpRun::prepare() {
  const int type = product_.type.part == DType::F64 ? real_f64 : real_f32;
  for (OnGpu* x : {&left_, &right_, &sums_})
    if (Status status = x->describe(session_->grid(), type); !status.ok()) return status;
  if (Status status = multiply(true); !status.ok()) return status;
  host_work_.resize(host_work_bytes_);
  return work_.allocate(std::max<std::size_t>(work_bytes_, 1));
}

/// Multiplies, or with `only_sizes` asks how much workspace that takes.
template <class T>
Status CublasMpRun::multiply(bool only_sizes) {
  const CublasMp& library = CublasMp::library();
  const T one = 1, zero = 0;
  const int op_left = k_is_row(left()) ? transposed : as_stored, op_right = k_is_row(right()) ? as_stored : transposed;
  const int compute = sizeof(T) == sizeof(double) ? compute_f64 : compute_f32;
  const Index m = sums_.host.rows.size, n = sums_.host.cols.size, k = product_.shape.k;
  if (only_sizes)
    return vendor_status(
        library.gemm_sizes(session_->handle(), op_left, op_right, m, n, k, &one, left_.memory.data(), 1, 1,
                           left_.descriptor, right_.memory.data(), 1, 1, right_.descriptor, &zero, sums_.memory.data(),
                           1, 1, sums_.descriptor, compute, &work_bytes_, &host_work_bytes_),
        "cublasMpGemm_bufferSize");
  Status status = vendor_status(
      library.gemm(session_->handle(), op_left, op_right, m, n, k, &one, left_.memory.data(), 1, 1, left_.descriptor,
                   right_.memory.data(), 1, 1, right_.descriptor, &zero, sums_.memory.data(), 1, 1, sums_.descriptor,
                   compute, work_.data(), work_bytes_, host_work_.data(), host_work_bytes_),
      "cublasMpGemm");
  return status.ok() ? product_.executor->default_queue().synchronize() : status;
}

/// Steps that wait for other ranks come after an agreement.
Status CublasMpRun::run(DistributedReport& report) {
  constexpr const char* name = "cublasmp";
  Communicator& world = *product_.grid.world;
  Executor& executor = *product_.executor;
  if (Status status = connect(); !status.ok()) return status;
  Status status = copy_in();
  if (status.ok()) status = prepare();
  if (status.ok()) status = executor.default_queue().synchronize();
  if (status = agree(world, name, status); !status.ok()) return status;
  const measure::HostStopwatch watch;
  if (status = multiply(false); !status.ok()) return status;
  report.seconds_multiplying = watch.seconds();
  if (sums_.bytes() == 0) return {};
  return executor.copy_out(executor.default_queue(), sums_.host.data, sums_.host_pitch(), sums_.memory.data(),
                           sums_.row_bytes(), sums_.row_bytes(), static_cast<std::size_t>(sums_.cols));
}

/// Says that two matrices have blocks of unlike sizes along a dimension that they share; empty if they do not.
std::string unlike_blocks(const char* x, const Axis& of_x, const char* y, const Axis& of_y, const char* dimension) {
  if (of_x.block == of_y.block) return {};
  return std::string("cuBLASMp wants equal blocks along ") + dimension + ", and " + x + " has blocks of " +
         std::to_string(of_x.block) + ", " + y + " of " + std::to_string(of_y.block) +
         "; deal the matrices in blocks of one size (gemm_compare: --block)";
}

std::string reject_by_cublas_mp(const DistributedProduct& product) {
  // What a machine lacks is said before what is wrong with the product.
  if (anywhere(product, product.backend != Backend::Cuda))
    return "cuBLASMp multiplies on NVIDIA GPUs, one for each rank; name the backend cuda, where they are";
  const std::string& missing = CublasMp::library().missing;
  if (anywhere(product, !missing.empty()))
    return missing.empty() ? "another rank cannot open cuBLASMp and NCCL" : missing;
  const GridState& grid = product.grid;
  if (product.type.is_complex || is_16_bit(product.type.part)) return "the yardstick is for f32 and f64";
  if (grid.shape.layers > 1)
    return "cuBLASMp has no layers, and the grid has " + std::to_string(grid.shape.layers) + "; take one layer";
  if (grid.layer_size() != grid.world->size())
    return "cuBLASMp wants all " + std::to_string(grid.world->size()) +
           " ranks of the communicator in the grid, which has " + std::to_string(grid.layer_size());
  for (const std::string& unlike : {unlike_blocks("a", product.a.spread.inner, "b", product.b.spread.inner, "k"),
                                    unlike_blocks("a", product.a.spread.outer, "c", product.rows, "m"),
                                    unlike_blocks("b", product.b.spread.outer, "c", product.cols, "n")})
    if (!unlike.empty()) return unlike;
  if (product.a_order != product.order || product.b_order != product.order)
    return "the local orders of a, b and c differ";
  return {};
}

} // namespace

const Engine cublas_mp{{.name = "cublasmp",
                        .summary = "cuBLASMp over NCCL, a GPU for each rank; a yardstick",
                        .source = "NVIDIA, cuBLASMp",
                        .canonical = false},
                       reject_by_cublas_mp,
                       [](const DistributedProduct& product) -> std::unique_ptr<EngineRun> {
                         return std::make_unique<CublasMpRun>(product);
                       }};

} // namespace tessera::distributed
