#include "table.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "cuda/device/status.hpp"

namespace tessera::cuda {
namespace {

/// The words that one launch carries among its arguments, which have at most 4 KiB.
struct Page {
  static constexpr unsigned most_words = 960;
  std::uint32_t words[most_words];
};

__global__ void store_page(std::uint32_t* to, unsigned count, const __grid_constant__ Page page) {
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) to[i] = page.words[i];
}

} // namespace

Status send_as_arguments(cudaStream_t stream, const void* host, std::size_t bytes, void* device) noexcept {
  constexpr std::size_t whole = sizeof(Page);
  for (std::size_t at = 0; at < bytes; at += whole) {
    const std::size_t here = std::min(whole, bytes - at);
    Page page;
    std::memcpy(page.words, static_cast<const char*>(host) + at, here);
    const auto words = static_cast<unsigned>((here + 3) / 4);
    store_page<<<1, 256, 0, stream>>>(reinterpret_cast<std::uint32_t*>(static_cast<char*>(device) + at), words, page);
    if (Status status = launched("store_page"); !status.ok()) return status;
  }
  return {};
}

} // namespace tessera::cuda
