#pragma once

/// System calls of this program that fail on purpose. The functions are the program's own, and libtessera gets them,
/// not the C library's.

#include <functional>

namespace tessera::test {

enum class Call { Read, Write, Reserve, Sync };

/// While it lives, the n-th call from now on and all after it fail with `error`. With an error of 0 nothing fails, and
/// `action` runs before the n-th call.
class Fault {
 public:
  Fault(Call call, long n, int error, std::function<void()> action = {});
  ~Fault();
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;

 private:
  Call call_;
};

/// Returns how often the call was made since the last Fault of it was made, or since the program began.
long calls(Call call);

} // namespace tessera::test
