#include "operands.hpp"

#include <cstring>
#include <exception>

#include <tessera/backend.hpp>

#include "common/machine.hpp"

namespace tessera::bench {
namespace {

Executor& host() { return executor(apps::processor_backends().front()); }

/// What the parts of the loop over rows read and write.
struct RowsToDigest {
  const char* data;
  std::size_t row_bytes, pitch;
  std::uint64_t* digests;
};

/// Mixes the words of a row in four chains, each by an invertible step: a row that differs in one word has another
/// digest for certain.
std::uint64_t digest(const char* row, std::size_t bytes) {
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
  std::uint64_t chains[4]{1, 2, 3, 4};
  const auto mix = [](std::uint64_t chain, std::uint64_t word) {
    chain = (chain ^ word) * factor;
    return chain ^ chain >> 29;
  };
  std::size_t at = 0;
  for (std::uint64_t words[4]; at + sizeof words <= bytes; at += sizeof words) {
    std::memcpy(words, row + at, sizeof words);
    for (std::size_t i = 0; i < 4; ++i) chains[i] = mix(chains[i], words[i]);
  }
  std::uint64_t whole = bytes;
  for (const std::uint64_t chain : chains) whole = mix(whole, chain);
  for (; at < bytes; ++at) whole = mix(whole, static_cast<unsigned char>(row[at]));
  return whole;
}

} // namespace

char* HostMemory::at_least(std::size_t bytes) {
  if (bytes > bytes_) {
    executor_.free_host(memory_);
    memory_ = nullptr;
    bytes_ = 0;
    throw_if_failed(executor_.allocate_host(bytes, memory_));
    bytes_ = bytes;
  }
  return static_cast<char*>(memory_);
}

void fill_random(DType type, Index rows, Index cols, void* data, Index ld, std::uint64_t seed) {
  throw_if_failed(host().random(host().default_queue(),
                                {.type = type, .rows = rows, .cols = cols, .z = data, .ldz = ld, .seed = seed}));
}

void fill_nan(DType type, Index rows, Index cols, void* data, Index ld) {
  throw_if_failed(host().map(host().default_queue(), {.op = MapOp::Fill,
                                                      .type = type,
                                                      .rows = rows,
                                                      .cols = cols,
                                                      .alpha = std::numeric_limits<double>::quiet_NaN(),
                                                      .z = data,
                                                      .ldz = ld}));
}

std::vector<std::uint64_t> row_digests(const void* data, Index rows, std::size_t row_bytes, std::size_t pitch) {
  std::vector<std::uint64_t> digests(static_cast<std::size_t>(rows));
  const RowsToDigest work{static_cast<const char*>(data), row_bytes, pitch, digests.data()};
  throw_if_failed(host().run_range(host().default_queue(),
                                   {.count = rows,
                                    .body =
                                        [](const void* context, Index begin, Index end) noexcept {
                                          const auto& all = *static_cast<const RowsToDigest*>(context);
                                          for (auto i = static_cast<std::size_t>(begin);
                                               i < static_cast<std::size_t>(end); ++i)
                                            all.digests[i] = digest(all.data + i * all.pitch, all.row_bytes);
                                        },
                                    .context = &work}));
  return digests;
}

} // namespace tessera::bench
