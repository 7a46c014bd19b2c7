#include "peer.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <tessera/performance/tuning.hpp>

namespace tessera::bench {
namespace {

/// Values of cublasComputeType_t.
constexpr int compute_f32 = 68, compute_f64 = 70, compute_tf32 = 77;

/// The vendor adds in an order of its own, and its tensor cores may truncate. Beside fp16x3 stands SGEMM, beside
/// int8_units DGEMM, and beside scaled_fp16 the product in TF32.
Arithmetic of_vendor(const DeviceMode& mode) {
  const bool beside_strict = mode.math == Math::EmulatedFp16x3 || mode.math == Math::Int8Units;
  if (mode.math == Math::Strict || beside_strict) return {.type = mode.type};
  const Math math = mode.math == Math::ScaledFp16 ? Math::Tf32 : mode.math;
  return {mode.type, math, Summation::Other, Accumulator::Truncating};
}

/// A kernel of the device's ladder, or the executor's own choice.
class KernelPeer final : public DevicePeer {
 public:
  KernelPeer(Executor& device, Side side, std::string name, std::string kernel, Math math)
      : device_(device), side_(side), name_(std::move(name)), kernel_(std::move(kernel)), math_(math) {}
  const std::string& name() const override { return name_; }
  Status enqueue(Queue& queue, const GemmCall& call) override {
    GemmCall mine = call;
    mine.math = math_;
    return device_.gemm(queue, mine, kernel_);
  }
  Arithmetic arithmetic(const DeviceMode& mode) const override {
    if (side_ == Side::Vendor) return of_vendor(mode);
    const bool promised = promises_bits(device_.gemm_kernels(), device_.capabilities(), mode.type, mode.math);
    for (const GemmKernel& kernel : device_.gemm_kernels()) {
      const bool stands_for_choice = kernel_.empty() && promised && has_contract(kernel.summation);
      if ((kernel.name == kernel_ || stands_for_choice) && kernel.type == mode.type && kernel.math == mode.math)
        return Arithmetic::of(kernel);
    }
    return {mode.type, mode.math, Summation::Other, Accumulator::Truncating};
  }
  Side side() const override { return side_; }

 private:
  Executor& device_;
  Side side_;
  std::string name_;
  std::string kernel_;
  Math math_;
};

/// cublasGemmEx, which chooses its kernel by itself. Row-major products are computed as column-major ones:
/// Cᵀ = op(B)ᵀ·op(A)ᵀ.
class CublasPeer final : public DevicePeer {
 public:
  CublasPeer(std::shared_ptr<Cublas> library, int compute)
      : library_(std::move(library)), compute_(compute), gemm_(library_->function<GemmEx>("cublasGemmEx")) {}
  const std::string& name() const override { return name_; }
  Arithmetic arithmetic(const DeviceMode& mode) const override { return of_vendor(mode); }
  Side side() const override { return Side::Vendor; }

  Status enqueue(Queue& queue, const GemmCall& call) override {
    for (const Index size : {call.m, call.n, call.k, call.lda, call.ldb, call.ldc})
      if (size > std::numeric_limits<int>::max()) return {StatusCode::Rejected, "a size is larger than an int"};
    const auto narrow = [](Index size) { return static_cast<int>(size); };
    const float alpha = static_cast<float>(call.alpha), beta = static_cast<float>(call.beta);
    const bool f64 = call.type == DType::F64;
    const void* factors[] = {f64 ? static_cast<const void*>(&call.alpha) : &alpha,
                             f64 ? static_cast<const void*>(&call.beta) : &beta};
    const int type = data_type(call.type);
    constexpr int default_algorithm = -1;
    const int status = gemm_(library_->handle_on(queue), Cublas::word(call.op_b), Cublas::word(call.op_a),
                             narrow(call.n), narrow(call.m), narrow(call.k), factors[0], call.b, type, narrow(call.ldb),
                             call.a, type, narrow(call.lda), factors[1], call.c, data_type(call.result),
                             narrow(call.ldc), compute_, default_algorithm);
    if (status != 0) return {StatusCode::DeviceError, fmt::format("cublasGemmEx: status {}", status)};
    return {};
  }

 private:
  using GemmEx = int (*)(Cublas::Handle, int, int, int, int, int, const void*, const void*, int, int, const void*, int,
                         int, const void*, void*, int, int, int, int);
  /// cudaDataType_t
  static int data_type(DType type) {
    switch (type) {
      case DType::F32:
        return 0;
      case DType::F64:
        return 1;
      case DType::F16:
        return 2;
      case DType::BF16:
        return 14;
      default: // device_modes() has no other type
        return 0;
    }
  }

  std::string name_ = "cublas";
  std::shared_ptr<Cublas> library_;
  int compute_;
  GemmEx gemm_;
};

} // namespace

const std::vector<DeviceMode>& device_modes() {
  static const std::vector<DeviceMode> modes{
      {"f32", DType::F32, Math::Strict, "cublas_lt", compute_f32},
      {"f64", DType::F64, Math::Strict, "cublas_lt", compute_f64},
      {"tf32", DType::F32, Math::Tf32, "cublas_lt_tf32", compute_tf32},
      {"bf16", DType::BF16, Math::Bf16, "cublas_lt_bf16", compute_f32},
      {"fp16", DType::F16, Math::Fp16, "cublas_lt_fp16", compute_f32},
      {"fp16x3", DType::F32, Math::EmulatedFp16x3, "cublas_lt", compute_f32},
      {"scaled_fp16", DType::F32, Math::ScaledFp16, "cublas_lt_tf32", compute_tf32},
      {"int8_units", DType::F64, Math::Int8Units, "cublas_lt", compute_f64},
  };
  return modes;
}

DevicePeers make_device_peers(Executor& device, const DeviceMode& mode, const std::shared_ptr<Cublas>& cublas,
                              const std::vector<std::string>& kernels) {
  DevicePeers peers;
  peers.push_back(std::make_unique<KernelPeer>(device, Side::Ours, "tessera", "", mode.math));
  if (cublas->exists()) {
    peers.push_back(std::make_unique<CublasPeer>(cublas, mode.cublas_compute));
    peers.push_back(
        std::make_unique<KernelPeer>(device, Side::Vendor, "cublas_lt", mode.list_kernel, of_vendor(mode).math));
  }
  for (const GemmKernel& kernel : device.gemm_kernels())
    if (kernel.type == mode.type && kernel.math == mode.math &&
        std::find(kernels.begin(), kernels.end(), kernel.name) != kernels.end())
      peers.push_back(std::make_unique<KernelPeer>(device, Side::Kernel, kernel.name, kernel.name, mode.math));
  return peers;
}

} // namespace tessera::bench
