#include "bandwidth.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace tessera::cpu {
namespace {

constexpr std::size_t line = 64;
constexpr std::size_t part = std::size_t{1} << 20;
/// Bytes that one task reads from a cache, about; this takes some tenths of a millisecond.
constexpr std::size_t bytes_per_task = std::size_t{8} << 20;
constexpr std::size_t largest_cache_buffer = std::size_t{64} << 20;

/// A buffer that begins on a cache line.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes)
      : bytes_((bytes + part - 1) / part * part),
        data_(static_cast<char*>(operator new (bytes_, std::align_val_t{line}))) {}
  ~Buffer() { operator delete (data_, std::align_val_t{line}); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  char* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  char* data_;
};

using Vector16 = std::uint64_t __attribute__((vector_size(16)));
using Vector32 = std::uint64_t __attribute__((vector_size(32)));
using Vector64 = std::uint64_t __attribute__((vector_size(64)));

/// Reads all bytes, which are a multiple of 8 vectors. The caller uses the result, so that the compiler cannot remove
/// the reads.
template <class Vector>
[[gnu::always_inline]] inline std::uint64_t read_vectors(const char* data, std::size_t bytes) {
  Vector sums[8] = {}; // so many chains that no operation waits for the one before
  for (const char* at = data; at < data + bytes; at += sizeof sums)
    for (std::size_t i = 0; i < 8; ++i) {
      Vector next;
      std::memcpy(&next, at + i * sizeof next, sizeof next);
      sums[i] ^= next;
    }
  std::uint64_t all = 0;
  for (const Vector& sum : sums) all ^= sum[0] ^ sum[1];
  return all;
}

using Read = std::uint64_t (*)(const char* data, std::size_t bytes);

std::uint64_t read_portable(const char* data, std::size_t bytes) { return read_vectors<Vector16>(data, bytes); }
#if defined(__x86_64__)
[[gnu::target("avx2")]] std::uint64_t read_avx2(const char* data, std::size_t bytes) {
  return read_vectors<Vector32>(data, bytes);
}
[[gnu::target("avx512f")]] std::uint64_t read_avx512(const char* data, std::size_t bytes) {
  return read_vectors<Vector64>(data, bytes);
}
#endif

Read reader(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return read_avx512;
  if (isa == Isa::Avx2) return read_avx2;
#endif
  static_cast<void>(isa);
  return read_portable;
}

/// Returns the bytes per second of threads that read a buffer again and again. `own` says whether each thread has its
/// own buffer of `bytes` bytes.
double read_again_and_again(Team& team, Isa isa, int threads, std::size_t bytes, bool own) {
  const Read read = reader(isa);
  constexpr std::size_t step = 512;
  bytes = std::max(bytes / step * step, step);
  const Buffer buffer(own ? bytes * static_cast<std::size_t>(threads) : bytes);
  std::memset(buffer.data(), 1, buffer.bytes());
  const std::size_t rounds = std::max<std::size_t>(1, bytes_per_task / bytes);
  const Index tasks = threads * Index{4};
  std::atomic<std::uint64_t> sink = 0;
  const auto body = [&](Index, int slot) {
    const auto at = static_cast<std::size_t>(slot);
    const char* begin = buffer.data() + (own ? at * bytes : 0);
    // Threads that share a buffer begin at different places.
    const std::size_t shift = own ? 0 : at * (bytes / static_cast<std::size_t>(threads)) / step * step;
    std::uint64_t sum = 0;
    for (std::size_t round = 0; round < rounds; ++round)
      sum ^= read(begin + shift, bytes - shift) + (shift > 0 ? read(begin, shift) : 0);
    sink.fetch_xor(sum, std::memory_order_relaxed);
  };
  const double seconds = best_seconds([&] { team.run(tasks, threads, body); });
  return static_cast<double>(bytes * rounds) * static_cast<double>(tasks) / seconds;
}

} // namespace

double memory_bandwidth(Team& team, Isa isa, int threads, std::size_t last_cache_bytes) {
  const Buffer from(std::clamp(2 * last_cache_bytes, 64 * part, 256 * part));
  const Buffer to(from.bytes());
  const auto for_parts = [&](auto body) {
    team.run(static_cast<Index>(from.bytes() / part), threads,
             [&](Index task, int) { body(static_cast<std::size_t>(task) * part); });
  };
  for_parts([&](std::size_t at) { // brings the pages in
    std::memset(from.data() + at, 1, part);
    std::memset(to.data() + at, 1, part);
  });
  const double copying =
      best_seconds([&] { for_parts([&](std::size_t at) { std::memcpy(to.data() + at, from.data() + at, part); }); });
  const Read read = reader(isa);
  std::atomic<std::uint64_t> sink = 0;
  const double reading = best_seconds([&] {
    for_parts([&](std::size_t at) {
      sink.fetch_xor(read(from.data() + at, part) + read(to.data() + at, part), std::memory_order_relaxed);
    });
  });
  return 2.0 * static_cast<double>(from.bytes()) / std::min(copying, reading);
}

std::array<CacheCeiling, 3> cache_bandwidths(Team& team, Isa isa, int threads, const Capabilities& machine,
                                             double memory) {
  const auto all = static_cast<std::size_t>(threads);
  std::array<CacheCeiling, 3> caches{};
  std::size_t count = 0;
  if (machine.l1_bytes > 0)
    caches[count++] = {1, machine.l1_bytes * all, read_again_and_again(team, isa, threads, machine.l1_bytes / 2, true)};
  if (machine.l2_bytes > 0)
    caches[count++] = {2, machine.l2_bytes * all, read_again_and_again(team, isa, threads, machine.l2_bytes / 2, true)};
  if (machine.l3_bytes > 0)
    caches[count++] = {
        3, std::max(machine.l3_bytes, machine.l2_bytes * all),
        read_again_and_again(team, isa, threads, std::min(machine.l3_bytes / 2, largest_cache_buffer), false)};
  double farther = memory;
  for (std::size_t i = count; i-- > 0;) {
    farther = std::max(farther, caches[i].bytes_per_second);
    caches[i].bytes_per_second = farther;
  }
  return caches;
}

} // namespace tessera::cpu
