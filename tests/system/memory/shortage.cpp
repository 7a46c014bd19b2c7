#include "shortage.hpp"

#include <dlfcn.h>
#include <link.h>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

namespace memory_test {
namespace {

/// Allocations of these libraries do not fail, because the libraries then end the process, and no caller can prevent
/// it: libgomp prints "Out of memory" and exits; TBB throws out of functions that are noexcept, and so does the
/// allocator that it loads. What Tessera does where threads cannot be had is tested elsewhere.
constexpr std::string_view spared_libraries[]{"libgomp", "libtbb", "libomp"};
/// The CUDA runtime, which is linked into this plug-in, registers kernels while the plug-in is loaded and does not look
/// whether malloc() gave it memory. The plug-in's own code allocates by operator new.
constexpr std::string_view plugin_with_cuda_runtime = "libtessera_cuda";
/// The loader allocates for dlopen(), which reports a failure, and for new threads, which a runtime library starts.
constexpr std::string_view loader = "ld-linux";

std::atomic<bool> armed = false;
std::atomic<const char*> counted_files = ""; ///< the beginning of the names of the files whose allocations count
std::atomic<bool> lasting_now = false;
std::atomic<long> left = 0;    ///< the allocation that makes it zero fails
std::atomic<long> counted = 0; ///< allocations since arm()
std::atomic<std::size_t> failed_bytes = 0;
std::atomic<bool> has_failed = false;
std::atomic<std::size_t> total_bytes = 0; ///< since arm()
std::atomic<long> live = 0;
thread_local int loading = 0; ///< this thread is in dlopen()
thread_local bool asking = false;

enum class By { Malloc, New };

/// Returns the path of the library that has the address; it is empty for the program and null for an address of none.
const char* library_at(const void* address) {
#ifdef DLFO_EH_SEGMENT_TYPE // glibc 2.35
  dl_find_object found{};
  return _dl_find_object(const_cast<void*>(address), &found) == 0 ? found.dlfo_link_map->l_name : nullptr;
#else
  Dl_info info{}; // dladdr() also looks for the symbol, which takes a hundred times as long
  return dladdr(address, &info) != 0 ? info.dli_fname : nullptr;
#endif
}

bool is_spared(const void* caller, By by) {
  asking = true; // the question may allocate
  const char* const library = library_at(caller);
  asking = false;
  if (library == nullptr) return true;
  const std::string_view path(library);
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (!file.starts_with(counted_files.load(std::memory_order_relaxed))) return true;
  for (const std::string_view spared : spared_libraries)
    if (file.starts_with(spared)) return true;
  if (by == By::Malloc && file.starts_with(plugin_with_cuda_runtime)) return true;
  return loading == 0 && file.starts_with(loader);
}

bool fails(std::size_t bytes, const void* caller, By by) {
  if (!armed.load(std::memory_order_relaxed) || asking || is_spared(caller, by)) return false;
  ++counted;
  total_bytes += bytes;
  const long now = --left;
  if (now > 0 || (now < 0 && !lasting_now)) return false;
  if (!has_failed.exchange(true)) failed_bytes = bytes;
  errno = ENOMEM;
  return true;
}

} // namespace

void arm(long n, Lasting lasting) {
  left = n;
  counted = 0;
  failed_bytes = 0;
  has_failed = false;
  total_bytes = 0;
  lasting_now = lasting == Lasting::Yes;
  armed = true;
}

Counted disarm() {
  armed = false;
  return {counted, failed_bytes, has_failed, total_bytes};
}

void only_in(const char* beginning_of_name) { counted_files = beginning_of_name; }

Uncounted::Uncounted() { asking = true; }
Uncounted::~Uncounted() { asking = false; }

long live_blocks() { return only_operator_new ? -1 : live.load(); }

namespace {

[[maybe_unused]] void* counted_block(void* block) {
  if (block != nullptr) ++live;
  return block;
}

} // namespace
} // namespace memory_test

using memory_test::By;
using memory_test::counted_block;
using memory_test::fails;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

extern "C" {

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

__attribute__((visibility("default"))) void* malloc(std::size_t bytes) {
  return fails(bytes, __builtin_return_address(0), By::Malloc) ? nullptr : counted_block(__libc_malloc(bytes));
}
__attribute__((visibility("default"))) void* calloc(std::size_t count, std::size_t bytes) {
  return fails(count * bytes, __builtin_return_address(0), By::Malloc) ? nullptr
                                                                       : counted_block(__libc_calloc(count, bytes));
}
__attribute__((visibility("default"))) void* realloc(void* block, std::size_t bytes) {
  if (fails(bytes, __builtin_return_address(0), By::Malloc)) return nullptr;
  void* const moved = __libc_realloc(block, bytes);
  if (block == nullptr && moved != nullptr) ++memory_test::live;
  if (block != nullptr && bytes == 0) --memory_test::live;
  return moved;
}
__attribute__((visibility("default"))) void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return fails(bytes, __builtin_return_address(0), By::Malloc) ? nullptr
                                                               : counted_block(__libc_memalign(alignment, bytes));
}
__attribute__((visibility("default"))) void* memalign(std::size_t alignment, std::size_t bytes) {
  return fails(bytes, __builtin_return_address(0), By::Malloc) ? nullptr
                                                               : counted_block(__libc_memalign(alignment, bytes));
}
__attribute__((visibility("default"))) int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  if (fails(bytes, __builtin_return_address(0), By::Malloc)) return ENOMEM;
  *block = counted_block(__libc_memalign(alignment, bytes));
  return *block != nullptr ? 0 : ENOMEM;
}
__attribute__((visibility("default"))) void free(void* block) {
  if (block != nullptr) --memory_test::live;
  __libc_free(block);
}

/// The loader must not find memory short for a thread that a runtime library starts, but for a library that Tessera
/// loads.
__attribute__((visibility("default"))) void* dlopen(const char* file, int flags) {
  using Open = void* (*)(const char*, int);
  static const Open real = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "dlopen"));
  const bool counts =
      !memory_test::armed || !memory_test::is_spared(__builtin_return_address(0), memory_test::By::Malloc);
  memory_test::loading += counts ? 1 : 0;
  void* const library = real(file, flags);
  memory_test::loading -= counts ? 1 : 0;
  return library;
}
}

namespace {

void* block_for_new(std::size_t bytes, std::size_t alignment, const void* caller) {
  if (fails(bytes, caller, By::New)) return nullptr;
  return counted_block(alignment == 0 ? __libc_malloc(bytes) : __libc_memalign(alignment, bytes));
}

} // namespace

#else

namespace {

void* block_for_new(std::size_t bytes, std::size_t alignment, const void* caller) {
  if (fails(bytes, caller, By::New)) return nullptr;
  return alignment == 0 ? std::malloc(bytes)
                        : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

} // namespace

#endif

namespace {

void* new_block(std::size_t bytes, std::size_t alignment, const void* caller) {
  if (void* const block = block_for_new(bytes == 0 ? 1 : bytes, alignment, caller)) return block;
  throw std::bad_alloc();
}

} // namespace

#define MEMORY_TEST_CALLER __builtin_return_address(0)
void* operator new(std::size_t bytes) { return new_block(bytes, 0, MEMORY_TEST_CALLER); }
void* operator new[](std::size_t bytes) { return new_block(bytes, 0, MEMORY_TEST_CALLER); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return new_block(bytes, static_cast<std::size_t>(alignment), MEMORY_TEST_CALLER);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return new_block(bytes, static_cast<std::size_t>(alignment), MEMORY_TEST_CALLER);
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return block_for_new(bytes, 0, MEMORY_TEST_CALLER);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return block_for_new(bytes, 0, MEMORY_TEST_CALLER);
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }
