#include "probes.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>

#include <tessera/backend.hpp>

#include "core/executor/executor_memory.hpp"
#include "digests.hpp"

namespace tessera::health_check {
namespace {

constexpr std::uint64_t seed_a = 11, seed_b = 12;

std::vector<char> filled(DType type, Index rows, Index cols, Distribution distribution, std::uint64_t seed) {
  std::vector<char> z(static_cast<std::size_t>(rows * cols) * size_of(type));
  Executor& reference = executor(Backend::Reference);
  RandomCall call;
  call.distribution = distribution;
  call.type = type;
  call.rows = rows;
  call.cols = cols;
  call.z = z.data();
  call.ldz = cols;
  call.seed = seed;
  call.low = distribution == Distribution::Normal ? 0 : -1;
  throw_if_failed(reference.random(reference.default_queue(), call));
  return z;
}

/// Takes bytes out of all caches, so that the next reading comes from memory.
void evict([[maybe_unused]] const char* first, [[maybe_unused]] std::size_t bytes) {
#if defined(__x86_64__)
  constexpr std::size_t line = 64;
  for (std::size_t at = 0; at < bytes; at += line) __builtin_ia32_clflush(first + at);
  __builtin_ia32_mfence();
#endif
}

GemmCall product_call(const Probe& probe, const void* a, const void* b, void* c, int threads) {
  return {{.type = probe.type,
           .math = probe.math,
           .m = probe.shape.m,
           .n = probe.shape.n,
           .k = probe.shape.k,
           .a = a,
           .lda = probe.shape.k,
           .b = b,
           .ldb = probe.shape.n,
           .c = c,
           .ldc = probe.shape.n,
           .threads = threads},
          probe.type};
}

std::string hexadecimal(const char* element, std::size_t bytes) {
  std::string text = "0x";
  for (std::size_t i = bytes; i-- > 0;) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(static_cast<unsigned char>(element[i])));
    text += digits;
  }
  return text;
}

Difference failure(const Status& status) { return {.elements = 1, .found = status.why, .expected = "a result"}; }

Difference compare(const Problem& problem, std::span<const char> result) {
  Difference difference;
  const std::size_t element = problem.probe->element();
  if (std::memcmp(result.data(), problem.expected.data(), problem.expected.size()) == 0) return difference;
  for (std::size_t at = 0; at < problem.expected.size(); at += element) {
    if (std::memcmp(&result[at], &problem.expected[at], element) == 0) continue;
    if (difference.elements++ > 0) continue;
    const auto place = static_cast<Index>(at / element);
    difference.row = place / problem.probe->cols();
    difference.col = place % problem.probe->cols();
    difference.found = hexadecimal(&result[at], element);
    difference.expected = hexadecimal(&problem.expected[at], element);
  }
  return difference;
}

/// Bytes of a test in an executor's memory: the host's own, or a copy.
class Placed {
 public:
  explicit Placed(Executor& executor) : copy_(executor) {}
  Status place(Executor& executor, Queue& queue, std::span<const char> bytes, bool copies) {
    here_ = bytes.data();
    if (executor.capabilities().host_memory || bytes.empty()) return {};
    if (Status status = copy_.allocate_for(queue, bytes.size()); !status.ok()) return status;
    here_ = copy_.data();
    return copies ? executor.copy_in(queue, copy_.data(), bytes.size(), bytes.data(), bytes.size(), bytes.size(), 1)
                  : Status{};
  }
  const void* data() const { return here_; }

 private:
  detail::ExecutorMemory copy_;
  const void* here_ = nullptr;
};

/// Runs the test on operands that are in place.
Status compute(const Probe& probe, Executor& executor, Queue& queue, std::string_view kernel, int threads,
               const void* a, const void* b, void* result) {
  switch (probe.kind) {
    case ProbeKind::Product:
      return executor.gemm(queue, product_call(probe, a, b, result, threads), kernel);
    case ProbeKind::Reduction: {
      ReduceResult sum;
      const ReduceCall call{.op = probe.reduction,
                            .type = probe.type,
                            .rows = probe.shape.m,
                            .cols = probe.shape.n,
                            .x = a,
                            .ldx = probe.shape.n,
                            .threads = threads};
      Status status = executor.reduce(queue, call, sum, kernel);
      std::memcpy(result, &sum.value, sizeof sum.value);
      return status;
    }
    case ProbeKind::Fill:
      break;
  }
  RandomCall call;
  call.distribution = probe.fill;
  call.type = probe.type;
  call.rows = probe.shape.m;
  call.cols = probe.shape.n;
  call.z = result;
  call.ldz = probe.shape.n;
  call.seed = seed_a;
  call.low = probe.fill == Distribution::Normal ? 0 : -1;
  call.threads = threads;
  return executor.random(queue, call);
}

std::string size_text(const Probe& probe) {
  std::string text = std::to_string(probe.shape.m) + "x" + std::to_string(probe.shape.n);
  return probe.kind == ProbeKind::Product ? text + "x" + std::to_string(probe.shape.k) : text;
}

} // namespace

std::string Probe::name() const {
  const std::string of_type(to_string(type));
  if (kind == ProbeKind::Product)
    return "product " + of_type + " " + std::string(to_string(math)) + " " + size_text(*this);
  if (kind == ProbeKind::Fill)
    return std::string(fill == Distribution::Normal ? "normal" : "uniform") + " fill " + of_type + " " +
           size_text(*this);
  return std::string(reduction == ReduceOp::SumAbs ? "sum of magnitudes " : "sum of squares ") + of_type + " " +
         size_text(*this);
}

std::span<const Probe> probes() { return all_probes; }

std::uint64_t digest_of(std::span<const char> bytes) {
  constexpr std::uint64_t prime = 0x9E3779B97F4A7C15;
  std::uint64_t digest = bytes.size() * prime;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof digest) {
    std::uint64_t word = 0;
    std::memcpy(&word, &bytes[at], std::min(sizeof word, bytes.size() - at));
    digest = (digest ^ word) * prime;
    digest ^= digest >> 29;
  }
  return digest;
}

std::vector<std::string> kernels_for(const Probe& probe, Executor& executor) {
  if (probe.kind != ProbeKind::Product) return {""};
  std::vector<std::string> names;
  if (probe.math == Math::Strict) names.emplace_back(); // what programs get
  if (probe.weight != Weight::Large || probe.math != Math::Strict)
    for (const GemmKernel& kernel : executor.gemm_kernels())
      if (kernel.type == probe.type && kernel.math == probe.math && has_contract(kernel.summation))
        names.emplace_back(kernel.name);
  return names;
}

Problem problem_of(const Probe& probe) {
  Problem problem;
  problem.probe = &probe;
  if (probe.kind == ProbeKind::Product) {
    problem.a = filled(probe.type, probe.shape.m, probe.shape.k, Distribution::Uniform, seed_a);
    problem.b = filled(probe.type, probe.shape.k, probe.shape.n, Distribution::Uniform, seed_b);
  }
  if (probe.kind == ProbeKind::Reduction)
    problem.a = filled(probe.type, probe.shape.m, probe.shape.n, Distribution::Uniform, seed_a);
  problem.expected.resize(probe.result_bytes());
  Executor& reference = executor(Backend::Reference);
  const std::vector<std::string> kernels = kernels_for(probe, reference);
  if (kernels.empty()) throw Error(StatusCode::Internal, "the reference has no kernel for a " + probe.name());
  throw_if_failed(compute(probe, reference, reference.default_queue(), kernels.front(), 1, problem.a.data(),
                          problem.b.data(), problem.expected.data()));
  return problem;
}

bool run(const Problem& problem, Executor& executor, Queue& queue, std::string_view kernel, int threads, bool cold,
         std::span<char> result, Difference& difference) {
  const Probe& probe = *problem.probe;
  const std::span<char> c = result.first(probe.result_bytes());
  const bool on_host = executor.capabilities().host_memory;
  if (probe.kind == ProbeKind::Product) {
    const GemmKernel* chosen = nullptr;
    if (!executor.choose_kernel(product_call(probe, nullptr, nullptr, nullptr, threads), kernel, chosen).ok() ||
        !has_contract(chosen->summation))
      return false;
  }
  std::memset(c.data(), 0xA5, c.size()); // a result that was not written is wrong
  if (cold) {
    evict(problem.a.data(), problem.a.size());
    evict(problem.b.data(), problem.b.size());
    evict(c.data(), c.size());
  }
  Placed a(executor), b(executor), on_device(executor);
  const bool in_host_memory = on_host || probe.kind == ProbeKind::Reduction; // a sum comes back by itself
  const auto work = [&]() -> Status {
    if (Status status = a.place(executor, queue, problem.a, true); !status.ok()) return status;
    if (Status status = b.place(executor, queue, problem.b, true); !status.ok()) return status;
    void* to = c.data();
    if (!in_host_memory) {
      if (Status status = on_device.place(executor, queue, c, true); !status.ok()) return status;
      to = const_cast<void*>(on_device.data());
    }
    if (Status status = compute(probe, executor, queue, kernel, threads, a.data(), b.data(), to); !status.ok())
      return status;
    if (in_host_memory) return {};
    return executor.copy_out(queue, c.data(), c.size(), to, c.size(), c.size(), 1);
  };
  const Status status = work();
  if (status.code == StatusCode::Rejected) return false;
  if (status.code == StatusCode::OutOfMemory) throw_if_failed(status);
  difference = status.ok() ? compare(problem, c) : failure(status);
  return true;
}

} // namespace tessera::health_check
