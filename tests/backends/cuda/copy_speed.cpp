/// Measures how fast copies are, and whether gemm(a, b, Backend::Cuda) costs more than its parts. This is not a test:
/// it prints the tables of docs/lab/cuda_executor.md in Markdown.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <vector>

#include <tessera/tessera.hpp>

#include "cuda_plugin.hpp"

using namespace tessera;
using namespace tessera::cuda_test;

namespace {

constexpr int repeats = 15;

template <class Work>
double median_seconds(Work work) {
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + repeats / 2, seconds.end());
  return seconds[repeats / 2];
}

/// GB/s to the device and from it.
struct Speed {
  double in, out;
};

Speed measure(Executor& executor, void* host, void* device, std::size_t bytes) {
  Queue& queue = executor.default_queue();
  const double gigabytes = static_cast<double>(bytes) * 1e-9;
  const auto in = [&] { throw_if_failed(executor.copy_in(queue, device, bytes, host, bytes, bytes, 1)); };
  const auto out = [&] { throw_if_failed(executor.copy_out(queue, host, bytes, device, bytes, bytes, 1)); };
  in(); // The first copies make the buffers.
  return {gigabytes / median_seconds(in), gigabytes / median_seconds(out)};
}

void compare_threads(std::size_t bytes) {
  std::vector<char> host(bytes, 1);
  void* pinned = nullptr;
  if (cudaMallocHost(&pinned, bytes) != cudaSuccess) throw OutOfMemory("no pinned memory for the comparison");
  for (const int threads : {1, 2, 4, 6, 8}) {
    OwnExecutor executor;
    throw_if_failed(create_own(executor, -1, threads));
    void* device = nullptr;
    throw_if_failed(executor->allocate(bytes, device));
    const Speed pageable = measure(*executor, host.data(), device, bytes);
    std::printf("| %zu KiB | %d | %.1f | %.1f |", bytes >> 10, threads, pageable.in, pageable.out);
    const Speed direct = measure(*executor, pinned, device, bytes);
    std::printf(" %.1f | %.1f |\n", direct.in, direct.out);
    executor->free(device);
  }
  cudaFreeHost(pinned);
}

/// Times the call with operands and result on the host, and its parts.
void compare_one_liner(Index n) {
  Executor& cuda = executor(Backend::Cuda);
  const auto make = [n](std::uint64_t seed) { return Matrix<float>::random(n, n, Seed{seed}); };
  const auto a = make(1);
  const auto b = make(2);
  std::vector<double> whole_times, in_times, kernel_times, out_times;
  for (int i = 0; i < repeats + 1; ++i) {
    const Matrix<float> fresh_a = a; // The copy is on the host only.
    const Matrix<float> fresh_b = b;
    const auto seconds = [](auto work) {
      const auto start = std::chrono::steady_clock::now();
      work();
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    Matrix<float> product; // It is freed outside the timing, like the product of the parts.
    const double whole = seconds([&] {
      product = gemm(fresh_a, fresh_b, Backend::Cuda);
      static_cast<void>(std::as_const(product)(0, 0));
    });
    const Matrix<float> part_a = a;
    const Matrix<float> part_b = b;
    const double in = seconds([&] {
      part_a.operand().storage->read_on(cuda);
      part_b.operand().storage->read_on(cuda);
    });
    Matrix<float> c;
    const double kernel = seconds([&] {
      c = gemm(part_a, part_b, Backend::Cuda);
      throw_if_failed(cuda.default_queue().synchronize());
    });
    const double out = seconds([&] { static_cast<void>(std::as_const(c)(0, 0)); });
    if (i == 0) continue; // The first run loads the code.
    whole_times.push_back(whole);
    in_times.push_back(in);
    kernel_times.push_back(kernel);
    out_times.push_back(out);
  }
  const auto median = [](std::vector<double>& times) {
    std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
    return times[repeats / 2] * 1e3;
  };
  const double whole = median(whole_times), in = median(in_times), kernel = median(kernel_times),
               out = median(out_times);
  std::printf("| %lld | %.3f | %.3f | %.3f | %.3f | %.3f | %+.1f %% |\n", static_cast<long long>(n), in, kernel, out,
              in + kernel + out, whole, 100 * (whole / (in + kernel + out) - 1));
}

} // namespace

int main() try {
  std::printf("%s, %s\n\n", executor(Backend::Cuda).capabilities().device.c_str(),
              executor(Backend::Cuda).capabilities().driver.c_str());
  std::printf("GB/s:\n\n| size | threads | in | out | pinned in | pinned out |\n|---|---|---|---|---|---|\n");
  for (const std::size_t kibibytes : std::to_array<std::size_t>({64, 256, 1024, 2048, 4096, 16384, 65536, 262144}))
    compare_threads(kibibytes << 10);
  std::printf(
      "\nms:\n\n| n | copies in | kernel | copy out | sum | gemm(a, b, Backend::Cuda) | more |\n"
      "|---|---|---|---|---|---|---|\n");
  for (const Index n : {512, 1024, 2048, 4096, 8192}) compare_one_liner(n);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
