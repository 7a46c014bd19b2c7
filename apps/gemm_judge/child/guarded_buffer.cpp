#include "guarded_buffer.hpp"

#include <tessera/status.hpp>

#include "guard_bands.hpp"

namespace tessera::judge {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{4} << 20;

} // namespace

GuardedBuffer::GuardedBuffer(Executor& executor, std::size_t bytes, std::size_t shift)
    : executor_(executor), bytes_(bytes), shift_(shift) {
  void* memory = nullptr;
  throw_if_failed(executor.allocate(bytes + shift + 2 * guard_bytes, memory));
  base_ = static_cast<std::byte*>(memory);
}

GuardedBuffer::~GuardedBuffer() { executor_.free(base_); }

void GuardedBuffer::fill(const std::byte* image) {
  Queue& queue = executor_.default_queue();
  const auto put = [&](std::byte* to, const std::byte* from, std::size_t bytes) {
    throw_if_failed(executor_.copy_in(queue, to, bytes, from, bytes, bytes, 1));
  };
  put(base_ + shift_, guard_image().data(), guard_bytes);
  put(base_ + shift_ + guard_bytes, image, bytes_);
  put(base_ + shift_ + guard_bytes + bytes_, guard_image().data(), guard_bytes);
}

void GuardedBuffer::copy_out(std::int64_t from, std::byte* to, std::size_t bytes) const {
  const std::byte* start = base_ + shift_ + guard_bytes + from;
  throw_if_failed(executor_.copy_out(executor_.default_queue(), to, bytes, start, bytes, bytes, 1));
}

void GuardedBuffer::read(std::byte* image) const { copy_out(0, image, bytes_); }

std::optional<std::int64_t> GuardedBuffer::first_difference(const std::byte* image) const {
  std::vector<std::byte> chunk(chunk_bytes);
  const auto difference =
      judge::first_difference(bytes_, image, chunk, [&](std::int64_t from, std::byte* to, std::size_t bytes) {
        copy_out(from, to, bytes);
        return true;
      });
  return difference ? std::optional(difference->offset) : std::nullopt;
}

} // namespace tessera::judge
