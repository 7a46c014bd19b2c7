/// Queues of streams that are not Tessera's: their work keeps its place between the work of others.

#include <cuda_runtime_api.h>

#include <array>
#include <memory>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>
#include <tessera/performance/recording.hpp>

#include "on_device.hpp"

using namespace tessera;
using namespace tessera::cuda_test;

BOOST_AUTO_TEST_SUITE(adopted_stream)

namespace {

/// A stream of this program's own CUDA runtime.
class Stream {
 public:
  Stream() { BOOST_REQUIRE(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking) == cudaSuccess); }
  ~Stream() { static_cast<void>(cudaStreamDestroy(stream_)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

void check_cuda(cudaError_t error) { BOOST_REQUIRE_MESSAGE(error == cudaSuccess, cudaGetErrorString(error)); }

GemmCall product_of(OnDevice& a, OnDevice& b, OnDevice& c, Index m, Index n, Index k) {
  GemmCall call;
  call.m = m;
  call.n = n;
  call.k = k;
  call.a = a.data();
  call.lda = k;
  call.b = b.data();
  call.ldb = n;
  call.c = c.data();
  call.ldc = n;
  return call;
}

} // namespace

/// A comes late, by a copy that follows others; it is overwritten after the product. The second shape has few results
/// and a long k, whose kernel keeps words in the queue's memory.
BOOST_AUTO_TEST_CASE(work_keeps_its_place) {
  Executor& cuda = executor(Backend::Cuda);
  for (const auto& [m, n, k] : {std::array<Index, 3>{700, 500, 300}, {40, 24, 9000}, {1, 3000, 2000}}) {
    OnDevice source(cuda, DType::F32, m, k), a(cuda, DType::F32, m, k), b(cuda, DType::F32, k, n);
    OnDevice c(cuda, DType::F32, m, n), expected(cuda, DType::F32, m, n), large(cuda, DType::F32, 1 << 12, 1 << 13);
    source.fill_randomly(1);
    b.fill_randomly(2);
    large.fill_with_nan();
    check_ok(cuda.gemm(cuda.default_queue(), product_of(source, b, expected, m, n, k)));
    std::vector<float> right(static_cast<std::size_t>(m * n)), found(right.size());
    const std::size_t bytes = right.size() * sizeof(float), width = static_cast<std::size_t>(n) * sizeof(float);
    check_ok(cuda.copy_out(cuda.default_queue(), right.data(), width, expected.data(), width, width,
                           static_cast<std::size_t>(m)));

    const Stream stream;
    std::unique_ptr<Queue> queue;
    check_ok(cuda.adopt_stream(stream, queue));
    BOOST_TEST(queue->native() == static_cast<cudaStream_t>(stream));
    const std::size_t a_bytes = static_cast<std::size_t>(m * k) * sizeof(float);
    for (int repeat = 0; repeat < 5; ++repeat) {
      for (int again = 0; again < 10; ++again) // work that keeps the device busy meanwhile
        check_cuda(cudaMemcpyAsync(large.data(), static_cast<char*>(large.data()) + (1 << 26), 1 << 26,
                                   cudaMemcpyDeviceToDevice, stream));
      check_cuda(cudaMemcpyAsync(a.data(), source.data(), a_bytes, cudaMemcpyDeviceToDevice, stream));
      check_ok(cuda.gemm(*queue, product_of(a, b, c, m, n, k)));
      check_cuda(cudaMemsetAsync(a.data(), 0xff, a_bytes, stream));
      check_cuda(cudaMemcpyAsync(found.data(), c.data(), bytes, cudaMemcpyDeviceToHost, stream));
      check_cuda(cudaMemsetAsync(c.data(), 0xff, bytes, stream));
      check_cuda(cudaStreamSynchronize(stream));
      BOOST_TEST(found == right);
    }
    check_ok(queue->synchronize());
  }
}

BOOST_AUTO_TEST_CASE(the_stream_stays_its_owners) {
  Executor& cuda = executor(Backend::Cuda);
  const Stream stream;
  std::unique_ptr<Queue> queue;
  check_ok(cuda.adopt_stream(stream, queue));
  auto* const recorder = dynamic_cast<Recorder*>(queue.get());
  BOOST_REQUIRE(recorder != nullptr);
  BOOST_TEST((recorder->begin_recording().code == StatusCode::Rejected));
  queue.reset();
  check_cuda(cudaStreamQuery(stream)); // the stream is still there
}

BOOST_AUTO_TEST_CASE(executors_without_streams_refuse) {
  std::unique_ptr<Queue> queue;
  const Status status = executor(Backend::Reference).adopt_stream(nullptr, queue);
  BOOST_TEST((status.code == StatusCode::Rejected));
  BOOST_TEST(!queue);
}

BOOST_AUTO_TEST_SUITE_END()
