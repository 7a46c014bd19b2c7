#include "system_calls.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>
#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>

namespace tessera::test {
namespace {

struct Armed {
  std::atomic<long> made = 0;
  std::atomic<long> fails_at = 0; ///< 0: never
  std::atomic<int> error = 0;
  std::function<void()> action;
};

std::array<Armed, 4>& table() {
  static std::array<Armed, 4> all;
  return all;
}

Armed& of(Call call) { return table()[static_cast<std::size_t>(call)]; }

/// Returns errno of a call that has to fail, else 0.
int error_of(Call call) {
  Armed& armed = of(call);
  const long number = ++armed.made, at = armed.fails_at;
  if (at == 0 || number < at) return 0;
  if (number == at && armed.action) armed.action();
  return armed.error;
}

template <class Function>
Function* real(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

} // namespace

Fault::Fault(Call call, long n, int error, std::function<void()> action) : call_(call) {
  Armed& armed = of(call);
  armed.made = 0;
  armed.error = error;
  armed.action = std::move(action);
  armed.fails_at = n;
}
Fault::~Fault() {
  of(call_).fails_at = 0;
  of(call_).action = {};
}

long calls(Call call) { return of(call).made; }

} // namespace tessera::test

#pragma GCC visibility push(default) // libtessera has to find them
extern "C" {

ssize_t pread(int file, void* to, size_t bytes, off_t place) {
  if (const int error = tessera::test::error_of(tessera::test::Call::Read); error != 0) return errno = error, -1;
  return tessera::test::real(&pread, "pread")(file, to, bytes, place);
}
ssize_t preadv(int file, const iovec* parts, int count, off_t place) {
  if (const int error = tessera::test::error_of(tessera::test::Call::Read); error != 0) return errno = error, -1;
  return tessera::test::real(&preadv, "preadv")(file, parts, count, place);
}
ssize_t pwrite(int file, const void* from, size_t bytes, off_t place) {
  if (const int error = tessera::test::error_of(tessera::test::Call::Write); error != 0) return errno = error, -1;
  return tessera::test::real(&pwrite, "pwrite")(file, from, bytes, place);
}
int fallocate(int file, int mode, off_t place, off_t bytes) {
  if (const int error = tessera::test::error_of(tessera::test::Call::Reserve); error != 0) return errno = error, -1;
  return tessera::test::real(&fallocate, "fallocate")(file, mode, place, bytes);
}
int fdatasync(int file) {
  if (const int error = tessera::test::error_of(tessera::test::Call::Sync); error != 0) return errno = error, -1;
  return tessera::test::real(&fdatasync, "fdatasync")(file);
}
}
#pragma GCC visibility pop
