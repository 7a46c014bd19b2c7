#include "reentry.hpp"

#include <tessera/status.hpp>

namespace tessera {
namespace {

constinit thread_local const Reentry* innermost = nullptr;

} // namespace

Reentry::Reentry(const void* what) noexcept : what_(what), outer_(innermost) { innermost = this; }

Reentry::~Reentry() { innermost = outer_; }

bool Reentry::is_within(const void* what) noexcept {
  for (const Reentry* one = innermost; one != nullptr; one = one->outer_)
    if (one->what_ == what) return true;
  return false;
}

void Reentry::refuse(const void* what, const std::string& name) {
  if (is_within(what))
    throw BackendUnavailable(name +
                             " is being loaded by this thread, and code that runs meanwhile (a constructor, an entry "
                             "point of a plug-in) asks for it; use it when it is loaded, or name another backend");
}

} // namespace tessera
