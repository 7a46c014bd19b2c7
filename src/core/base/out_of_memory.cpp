#include <tessera/backend/out_of_memory.hpp>

#include <cstdio>

namespace tessera {
namespace {

/// small_allocation is the number in this text.
constexpr const char* small_one =
    "out of host memory: less than 65536 bytes were asked for, for a list or a text that the call needs";
static_assert(small_allocation == 65536);

} // namespace

HostMemoryShort::HostMemoryShort(const char* purpose, std::size_t bytes) noexcept {
  std::snprintf(text_, sizeof text_, "out of host memory: %zu bytes for %s", bytes, purpose);
}
HostMemoryShort::~HostMemoryShort() = default;

const char* text_of(const std::bad_alloc& error) noexcept {
  const auto* sized = dynamic_cast<const HostMemoryShort*>(&error);
  return sized != nullptr ? sized->what() : small_one;
}

Status out_of_memory(const std::bad_alloc& error) noexcept try {
  return {StatusCode::OutOfMemory, text_of(error)};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

Status out_of_memory(const char* purpose, std::size_t bytes) noexcept {
  return out_of_memory(HostMemoryShort(purpose, bytes));
}

Status detail::partly_written(StatusCode code, std::string_view why) noexcept try {
  if (code == StatusCode::OutOfMemory && why.empty()) why = "out of memory";
  constexpr std::string_view end = "; parts of C were written already";
  std::string text(why);
  if (!why.ends_with(end)) text += end;
  return {StatusCode::DeviceError, std::move(text)};
} catch (const std::bad_alloc&) {
  return {StatusCode::DeviceError, {}};
}

void throw_out_of_memory(const std::bad_alloc& error) { throw OutOfMemory(text_of(error)); }

} // namespace tessera
