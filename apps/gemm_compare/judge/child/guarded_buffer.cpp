#include "guarded_buffer.hpp"

#include <algorithm>
#include <cstring>

#include <tessera/status.hpp>

#include "judge/channel.hpp"

namespace tessera::judge {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{4} << 20;

const std::vector<std::byte>& guard_image() {
  static const std::vector<std::byte> image = [] {
    std::vector<std::byte> bytes(guard_bytes);
    for (std::size_t i = 0; i < bytes.size(); i += sizeof guard_word)
      std::memcpy(&bytes[i], &guard_word, sizeof guard_word);
    return bytes;
  }();
  return image;
}

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
  const auto differs = [&](std::int64_t start, const std::byte* expected,
                           std::size_t bytes) -> std::optional<std::int64_t> {
    for (std::size_t done = 0; done < bytes; done += chunk_bytes) {
      const std::size_t part = std::min(chunk_bytes, bytes - done);
      copy_out(start + static_cast<std::int64_t>(done), chunk.data(), part);
      if (std::memcmp(chunk.data(), expected + done, part) == 0) continue;
      const auto at = std::mismatch(chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(part), expected + done);
      return start + static_cast<std::int64_t>(done) + (at.first - chunk.begin());
    }
    return std::nullopt;
  };
  const auto end = static_cast<std::int64_t>(bytes_);
  if (const auto behind = differs(end, guard_image().data(), guard_bytes)) return behind;
  if (const auto front = differs(-static_cast<std::int64_t>(guard_bytes), guard_image().data(), guard_bytes))
    return front;
  return image != nullptr ? differs(0, image, bytes_) : std::nullopt;
}

} // namespace tessera::judge
