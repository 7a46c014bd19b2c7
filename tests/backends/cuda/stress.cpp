/// Eight threads, each with a queue of its own, run products of all modes and random shapes on one device at the same
/// time, and compare the bits with the bits of the same products alone: state that is set for one launch and read by
/// another shows as a failure or as other bits.
///
///     tessera_cuda_stress [SECONDS [SEED]]
///
/// Exits with 1 if a product fails or differs, and with 77 if there is no device.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <tessera/backend.hpp>
#include <tessera/batch.hpp>
#include <tessera/executor.hpp>
#include <tessera/performance/recording.hpp>
#include <tessera/queue.hpp>
#include <tessera/status.hpp>

using namespace tessera;

namespace {

constexpr int thread_count = 8, job_count = 240;

using Random = std::mt19937_64;

/// Draws a whole number from 1 to `most`, whose logarithm is uniform.
Index length(Random& random, double most) {
  return static_cast<Index>(std::exp(std::uniform_real_distribution<double>(0, std::log(most))(random)));
}

template <class T>
T one_of(Random& random, std::initializer_list<T> values) {
  return values.begin()[random() % values.size()];
}

/// Device memory.
class Memory {
 public:
  Memory(Executor& device, std::size_t bytes) : device_(device), bytes_(bytes) {
    throw_if_failed(device.allocate(bytes, data_));
  }
  ~Memory() { device_.free(data_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  Executor& device_;
  std::size_t bytes_;
  void* data_ = nullptr;
};

using Bytes = std::vector<std::byte>;

Bytes bytes_of(Executor& device, Queue& queue, const void* data, std::size_t count) {
  Bytes bytes(count);
  throw_if_failed(device.copy_out(queue, bytes.data(), count, data, count, count, 1));
  return bytes;
}

/// One product, or a batch of them, with its operands on the device and the bits that it has when it runs alone.
class Job {
 public:
  Job(Executor& device, const GemmKernel& kernel, Random& random) : device_(device) {
    GemmCall& x = batch_.call;
    batch_.count = random() % 5 == 0 ? length(random, 40) : 1;
    const double most = batch_.count > 1 ? 200 : 1800;
    x.type = kernel.type;
    x.result = is_16_bit(x.type) && random() % 2 == 0 ? DType::F32 : x.type;
    x.math = kernel.math;
    x.op_a = one_of(random, {Op::None, Op::Transpose});
    x.op_b = one_of(random, {Op::None, Op::Transpose});
    x.m = length(random, most), x.n = length(random, most), x.k = length(random, 2 * most);
    x.alpha = one_of(random, {1.0, -1.0, 1.5});
    x.beta = one_of(random, {0.0, 0.0, 1.0, 0.5});
    const auto padding = [&] { return one_of<Index>(random, {0, 0, 1, 8}); };
    x.lda = (x.op_a == Op::None ? x.k : x.m) + padding();
    x.ldb = (x.op_b == Op::None ? x.n : x.k) + padding();
    x.ldc = x.n + padding();
    batch_.stride_a = (x.op_a == Op::None ? x.m : x.k) * x.lda;
    batch_.stride_b = (x.op_b == Op::None ? x.k : x.n) * x.ldb;
    batch_.stride_c = x.m * x.ldc;
    a_ = filled(x.type, batch_.count * batch_.stride_a, random());
    b_ = filled(x.type, batch_.count * batch_.stride_b, random());
    c_ = filled(x.result, batch_.count * batch_.stride_c, random());
    x.a = a_->data();
    x.b = b_->data();
    if (batch_.count == 1 && random() % 4 == 0) kernel_ = kernel.name;
    if (batch_.count == 1 && random() % 4 == 0) x.epilogue.activation = Activation::Gelu;
  }

  /// Runs the product alone and keeps its bits. Returns false if no kernel takes it.
  bool expect() {
    Queue& queue = device_.default_queue();
    const Memory c(device_, result_bytes());
    const Status status = enqueue(queue, c.data());
    if (status.code == StatusCode::Rejected) return false;
    throw_if_failed(status);
    expected_ = bytes_of(device_, queue, c.data(), result_bytes());
    return true;
  }

  std::size_t result_bytes() const { return c_->bytes(); }

  /// Copies the C that the product reads to `c`, and enqueues the product.
  Status enqueue(Queue& queue, void* c) const {
    const std::size_t bytes = result_bytes();
    const CopyCall copy{.direction = CopyDirection::Within,
                        .to = c,
                        .to_pitch = bytes,
                        .from = c_->data(),
                        .from_pitch = bytes,
                        .width = bytes,
                        .rows = 1};
    if (Status status = device_.enqueue_copy(queue, copy); !status.ok()) return status;
    GemmBatch batch = batch_;
    batch.call.c = c;
    return batch.count == 1 ? device_.gemm(queue, batch.call, kernel_) : device_.gemm_batch(queue, {&batch, 1});
  }

  bool is_expected(Queue& queue, const void* c) const {
    return bytes_of(device_, queue, c, result_bytes()) == expected_;
  }

  std::string name() const {
    const GemmCall& x = batch_.call;
    return std::string(to_string(x.type)) + " " + std::string(to_string(x.math)) + " " + std::to_string(x.m) + "x" +
           std::to_string(x.n) + "x" + std::to_string(x.k) +
           (batch_.count > 1 ? ", " + std::to_string(batch_.count) + " products" : "") +
           (kernel_.empty() ? "" : ", kernel " + kernel_);
  }

 private:
  std::unique_ptr<Memory> filled(DType type, Index elements, std::uint64_t seed) {
    auto memory = std::make_unique<Memory>(device_, static_cast<std::size_t>(elements) * size_of(type));
    throw_if_failed(device_.random(
        device_.default_queue(),
        {.type = type, .rows = 1, .cols = elements, .z = memory->data(), .ldz = elements, .seed = seed}));
    return memory;
  }

  Executor& device_;
  GemmBatch batch_;
  std::string kernel_;
  std::unique_ptr<Memory> a_, b_, c_;
  Bytes expected_;
};

using Jobs = std::vector<std::unique_ptr<Job>>;

Jobs make_jobs(Executor& device, Random& random) {
  std::vector<GemmKernel> kernels;
  for (const GemmKernel& kernel : device.gemm_kernels()) // the vendor's kernels need not give the same bits twice
    if (!std::string_view(kernel.name).starts_with("cublas")) kernels.push_back(kernel);
  Jobs jobs;
  while (jobs.size() < job_count) {
    auto job = std::make_unique<Job>(device, kernels[random() % kernels.size()], random);
    if (job->expect()) jobs.push_back(std::move(job));
  }
  return jobs;
}

/// What the threads have done so far.
struct Tally {
  std::atomic<long> compared = 0, failed = 0, different = 0;
  std::mutex mutex;

  void fail(const Job& job, const std::string& why) {
    if (++failed <= 5) say(job.name() + ": " + why);
  }
  void compare(const Job& job, bool same) {
    ++compared;
    if (!same && ++different <= 5) say(job.name() + ": other bits than alone");
  }
  void say(const std::string& line) {
    const std::lock_guard lock(mutex);
    std::cout << line << std::endl;
  }
};

/// Enqueues a job in one of three ways: into memory that the thread keeps, into new memory, or as a recording.
void run_job(Executor& device, Queue& queue, const Job& job, const Memory& kept, Random& random, Tally& tally) {
  const std::uint64_t way = random() % 8;
  std::unique_ptr<Memory> fresh;
  if (way == 0) fresh = std::make_unique<Memory>(device, job.result_bytes());
  void* const c = fresh != nullptr ? fresh->data() : kept.data();
  std::unique_ptr<Recording> recording;
  Status status;
  if (way == 1) {
    status = record(
        queue, [&] { return job.enqueue(queue, c); }, recording);
    if (status.code == StatusCode::Rejected) return; // it needs memory that only the default queue records
    for (int i = 0; i < 2 && status.ok(); ++i) status = recording->replay(queue);
  } else {
    status = job.enqueue(queue, c);
  }
  if (!status.ok()) return tally.fail(job, status.why);
  if (way <= 1 || random() % 2 == 0) tally.compare(job, job.is_expected(queue, c));
}

void run_jobs(Executor& device, const Jobs& jobs, std::uint64_t seed, const std::atomic<bool>& stop, Tally& tally) {
  std::unique_ptr<Queue> queue;
  throw_if_failed(device.create_queue(queue));
  std::size_t most = 0;
  for (const auto& job : jobs) most = std::max(most, job->result_bytes());
  const Memory kept(device, most);
  Random random(seed);
  while (!stop) {
    const Job& job = *jobs[random() % jobs.size()];
    try {
      run_job(device, *queue, job, kept, random, tally);
    } catch (const std::exception& error) {
      tally.fail(job, error.what());
    }
  }
  throw_if_failed(queue->synchronize());
}

int run(double seconds, std::uint64_t seed) {
  Executor& device = executor(Backend::Cuda);
  Random random(seed);
  const Jobs jobs = make_jobs(device, random);
  Tally tally;
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i)
    threads.emplace_back([&, own = random()] { run_jobs(device, jobs, own, stop, tally); });
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  stop = true;
  for (std::thread& thread : threads) thread.join();
  std::cout << thread_count << " threads, " << jobs.size() << " kinds of products, seed " << seed << ": "
            << tally.compared << " results compared, " << tally.different << " differ, " << tally.failed
            << " products failed\n";
  return tally.different == 0 && tally.failed == 0 && tally.compared > 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) try {
  for (const BackendInfo& info : available_backends())
    if (info.backend == Backend::Cuda && !info.available) {
      std::cout << "SKIPPED: cuda is not available: " << info.reason << '\n';
      return 77;
    }
  return run(argc > 1 ? std::atof(argv[1]) : 60, argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
