/// cublasxt: cuBLASXt's product of host matrices on the GPU of a rank, as a yardstick. It is a library of one process,
/// so that it takes grids of one rank. The order of the sums is the library's, and so are the bits.
///
/// Source: NVIDIA, cuBLASXt.

#include <memory>

#include <tessera/detail/found_once.hpp>
#include <tessera/detail/stopwatch.hpp>

#include "extensions/distributed/dealt.hpp"
#include "library.hpp"

namespace tessera::distributed {
namespace {

/// cublasXtSgemm and cublasXtDgemm.
template <class T>
using Gemm = int (*)(void* handle, int op_a, int op_b, std::size_t m, std::size_t n, std::size_t k, const T* alpha,
                     const T* a, std::size_t lda, const T* b, std::size_t ldb, const T* beta, T* c, std::size_t ldc);

struct CublasXt {
  std::string missing; ///< why the functions cannot be called; empty if they can
  int (*create)(void** handle);
  int (*destroy)(void* handle);
  int (*select)(void* handle, int count, int* devices);
  Gemm<float> gemm_f32;
  Gemm<double> gemm_f64;

  static const CublasXt& library() {
    static constinit tessera::detail::FoundOnce<const CublasXt> opened;
    return opened.get([] {
      auto found = std::make_unique<CublasXt>();
      CublasXt& x = *found;
      VendorLibrary cublas("cuBLAS", {"libcublas.so.13", "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so.13",
                                      "/usr/local/cuda/lib64/libcublas.so.12"});
      cublas.find("cublasXtCreate", x.create);
      cublas.find("cublasXtDestroy", x.destroy);
      cublas.find("cublasXtDeviceSelect", x.select);
      cublas.find("cublasXtSgemm", x.gemm_f32);
      cublas.find("cublasXtDgemm", x.gemm_f64);
      x.missing = cublas.missing();
      return found;
    });
  }
};

/// A handle of the library for one device.
class Handle {
 public:
  Handle() = default;
  ~Handle() {
    if (handle_ != nullptr) CublasXt::library().destroy(handle_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  Status open(int device) {
    if (Status status = vendor_status(CublasXt::library().create(&handle_), "cublasXtCreate"); !status.ok())
      return status;
    return vendor_status(CublasXt::library().select(handle_, 1, &device), "cublasXtDeviceSelect");
  }
  void* get() const noexcept { return handle_; }

 private:
  void* handle_ = nullptr;
};

class CublasXtRun final : public EngineRun {
 public:
  explicit CublasXtRun(const DistributedProduct& product) : product_(product) {}
  std::size_t bytes() const noexcept override { return 0; }
  std::size_t device_bytes() const noexcept override { return 0; } // the library's are not known
  std::optional<std::uint64_t> bytes_expected() const noexcept override { return {}; }
  Status allocate(HostBuffers&, char* sums) override {
    sums_ = sums;
    return handle_.open(product_.executor->capabilities().device_index);
  }
  Status run(DistributedReport& report) override {
    const measure::HostStopwatch watch;
    const Status status = product_.type.part == DType::F64 ? multiply(CublasXt::library().gemm_f64, "cublasXtDgemm")
                                                           : multiply(CublasXt::library().gemm_f32, "cublasXtSgemm");
    report.seconds_multiplying = watch.seconds();
    return status;
  }

 private:
  template <class T>
  Status multiply(Gemm<T> gemm, const char* function) {
    const bool columns = product_.order == LocalOrder::ColumnMajor;
    const Source &x = columns ? product_.a : product_.b, &y = columns ? product_.b : product_.a;
    const Dealt left = dealt(x), right = dealt(y), sums = dealt_sums(product_, sums_);
    const auto size = [](Index count) { return static_cast<std::size_t>(count); };
    const T one = 1, zero = 0;
    return vendor_status(gemm(handle_.get(), k_is_row(x) ? 1 : 0, k_is_row(y) ? 0 : 1, size(sums.rows.size),
                              size(sums.cols.size), size(product_.shape.k), &one, reinterpret_cast<const T*>(left.data),
                              size(left.ld), reinterpret_cast<const T*>(right.data), size(right.ld), &zero,
                              reinterpret_cast<T*>(sums.data), size(sums.ld)),
                         function);
  }

  const DistributedProduct product_;
  Handle handle_;
  char* sums_ = nullptr;
};

std::string reject_by_cublas_xt(const DistributedProduct& product) {
  // What a machine lacks is said before what is wrong with the product.
  if (product.grid.world->size() > 1)
    return "cuBLASXt is a library of one process, and there are " + std::to_string(product.grid.world->size()) +
           " ranks; start one";
  if (product.backend != Backend::Cuda)
    return "cuBLASXt multiplies on an NVIDIA GPU; name the backend cuda, where there is one";
  if (const std::string& missing = CublasXt::library().missing; !missing.empty()) return missing;
  if (product.type.is_complex || is_16_bit(product.type.part)) return "the yardstick is for f32 and f64";
  if (product.a_order != product.order || product.b_order != product.order)
    return "the local orders of a, b and c differ";
  return {};
}

} // namespace

const Engine cublas_xt{{.name = "cublasxt",
                        .summary = "cuBLASXt on the GPU of one rank; a yardstick",
                        .source = "NVIDIA, cuBLASXt",
                        .canonical = false},
                       reject_by_cublas_xt,
                       [](const DistributedProduct& product) -> std::unique_ptr<EngineRun> {
                         return std::make_unique<CublasXtRun>(product);
                       }};

} // namespace tessera::distributed
