#include "handwritten_stream.hpp"

#include <array>
#include <numeric>
#include <stdexcept>
#include <string>

#include <cub/device/device_reduce.cuh>

namespace handwritten {
namespace {

constexpr int threads = 256;

void require(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

struct CopyRule {
  static constexpr bool reads_b = false;
  static __device__ double of(double a, double, double) { return a; }
};
struct MulRule {
  static constexpr bool reads_b = false;
  static __device__ double of(double a, double, double scalar) { return scalar * a; }
};
struct AddRule {
  static constexpr bool reads_b = true;
  static __device__ double of(double a, double b, double) { return a + b; }
};
struct TriadRule {
  static constexpr bool reads_b = true;
  static __device__ double of(double a, double b, double scalar) { return a + scalar * b; }
};

template <class Rule>
__device__ double apply(double a, double b, double scalar) {
  return Rule::of(a, b, scalar);
}
template <class Rule>
__device__ double2 apply(double2 a, double2 b, double scalar) {
  return {Rule::of(a.x, b.x, scalar), Rule::of(a.y, b.y, scalar)};
}

/// Each thread has `per_thread` elements of T, which lie a block's width apart, and asks for all of them before it
/// writes one.
template <class Rule, class T, int per_thread>
__global__ void __launch_bounds__(threads)
    stream_kernel(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, double scalar, Index n) {
  const Index first = static_cast<Index>(blockIdx.x) * (threads * per_thread) + threadIdx.x;
  T x[per_thread]{}, y[per_thread]{};
#pragma unroll
  for (int u = 0; u < per_thread; ++u)
    if (const Index i = first + u * threads; i < n) {
      x[u] = a[i];
      if constexpr (Rule::reads_b) y[u] = b[i];
    }
#pragma unroll
  for (int u = 0; u < per_thread; ++u)
    if (const Index i = first + u * threads; i < n) c[i] = apply<Rule>(x[u], y[u], scalar);
}

template <class Rule, class T, int per_thread>
void launch(const Vectors& v, cudaStream_t stream) {
  constexpr Index doubles = sizeof(T) / sizeof(double);
  if (v.n <= 0 || v.n % doubles != 0) throw std::runtime_error("the hand-written loops take an even, positive n");
  const Index n = v.n / doubles, blocks = (n + threads * per_thread - 1) / (threads * per_thread);
  stream_kernel<Rule, T, per_thread><<<static_cast<unsigned>(blocks), threads, 0, stream>>>(
      reinterpret_cast<const T*>(v.a), reinterpret_cast<const T*>(v.b), reinterpret_cast<T*>(v.c), v.scalar, n);
  require(cudaGetLastError(), "launch of a hand-written loop");
}

template <class T, int per_thread>
void run_loop(Loop loop, const Vectors& vectors, cudaStream_t stream) {
  switch (loop) {
    case Loop::Copy:
      return launch<CopyRule, T, per_thread>(vectors, stream);
    case Loop::Mul:
      return launch<MulRule, T, per_thread>(vectors, stream);
    case Loop::Add:
      return launch<AddRule, T, per_thread>(vectors, stream);
    case Loop::Triad:
      return launch<TriadRule, T, per_thread>(vectors, stream);
  }
}

template <class T>
__device__ double product(const T& a, const T& b) {
  if constexpr (sizeof(T) == sizeof(double))
    return a * b;
  else
    return a.x * b.x + a.y * b.y;
}

template <class T>
__global__ void __launch_bounds__(threads)
    dot_kernel(const T* __restrict__ a, const T* __restrict__ b, double* partial, Index n) {
  const Index step = static_cast<Index>(gridDim.x) * threads;
  double sum = 0;
#pragma unroll 4
  for (Index i = static_cast<Index>(blockIdx.x) * threads + threadIdx.x; i < n; i += step) sum += product(a[i], b[i]);
  __shared__ double sums[threads];
  sums[threadIdx.x] = sum;
  for (unsigned width = threads / 2; width > 0; width /= 2) {
    __syncthreads();
    if (threadIdx.x < width) sums[threadIdx.x] += sums[threadIdx.x + width];
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}

/// Memory of the device, and pinned memory of the host for what is fetched from it.
class Result {
 public:
  explicit Result(std::size_t count) : count_(count) {
    require(cudaMalloc(&device_, count * sizeof(double)), "memory for a result");
    require(cudaMallocHost(&host_, count * sizeof(double)), "pinned memory for a result");
  }
  ~Result() { // A failure of these shows in the calls that follow.
    static_cast<void>(cudaFree(device_));
    static_cast<void>(cudaFreeHost(host_));
  }
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;

  double* device() const { return device_; }
  std::span<const double> fetch(cudaStream_t stream) const {
    require(cudaMemcpyAsync(host_, device_, count_ * sizeof(double), cudaMemcpyDeviceToHost, stream), "fetching");
    require(cudaStreamSynchronize(stream), "waiting for a result");
    return {host_, count_};
  }

 private:
  std::size_t count_;
  double* device_ = nullptr;
  double* host_ = nullptr;
};

template <class T>
class Dot final : public Reducer {
 public:
  explicit Dot(Index n)
      : n_(n / static_cast<Index>(sizeof(T) / sizeof(double))), blocks_(resident_blocks()), partial_(blocks_) {}
  double run(const double* a, const double* b, cudaStream_t stream) override {
    dot_kernel<<<blocks_, threads, 0, stream>>>(reinterpret_cast<const T*>(a), reinterpret_cast<const T*>(b),
                                                partial_.device(), n_);
    require(cudaGetLastError(), "launch of the hand-written dot");
    const std::span<const double> sums = partial_.fetch(stream);
    return std::accumulate(sums.begin(), sums.end(), 0.0);
  }

 private:
  /// Returns how many blocks are resident at once.
  static unsigned resident_blocks() {
    int device = 0, multiprocessors = 0, resident = 0;
    require(cudaGetDevice(&device), "asking for the device");
    require(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), "asking the device");
    require(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, dot_kernel<T>, threads, 0), "asking the kernel");
    return static_cast<unsigned>(multiprocessors * resident);
  }

  Index n_;
  unsigned blocks_;
  Result partial_;
};

class CubSum final : public Reducer {
 public:
  explicit CubSum(Index n) : n_(n), sum_(1) {
    require(cub::DeviceReduce::Sum(nullptr, bytes_, static_cast<const double*>(nullptr), sum_.device(), n_), "CUB");
    require(cudaMalloc(&temporary_, bytes_), "CUB's memory");
  }
  ~CubSum() override { static_cast<void>(cudaFree(temporary_)); }
  double run(const double* a, const double*, cudaStream_t stream) override {
    require(cub::DeviceReduce::Sum(temporary_, bytes_, a, sum_.device(), n_, stream), "CUB");
    return sum_.fetch(stream)[0];
  }

 private:
  Index n_;
  Result sum_;
  std::size_t bytes_ = 0;
  void* temporary_ = nullptr;
};

} // namespace

std::span<const Variant> variants() {
  static constexpr std::array<Variant, 5> all{{{"CUDA, 8 bytes", run_loop<double, 1>},
                                               {"CUDA, 4 × 8 bytes", run_loop<double, 4>},
                                               {"CUDA, 16 bytes", run_loop<double2, 1>},
                                               {"CUDA, 2 × 16 bytes", run_loop<double2, 2>},
                                               {"CUDA, 4 × 16 bytes", run_loop<double2, 4>}}};
  return all;
}

std::unique_ptr<Reducer> make_dot(Index n, bool wide) {
  if (n <= 0 || n % 2 != 0) throw std::runtime_error("the hand-written dot takes an even, positive n");
  if (wide) return std::make_unique<Dot<double2>>(n);
  return std::make_unique<Dot<double>>(n);
}

std::unique_ptr<Reducer> make_cub_sum(Index n) { return std::make_unique<CubSum>(n); }

} // namespace handwritten
