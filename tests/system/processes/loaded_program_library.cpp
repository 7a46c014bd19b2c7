/// A library of a program that multiplies while it is loaded, and while it is unloaded or the program ends.

#include <dlfcn.h>
#include <cstdio>
#include <cstdlib>

#include <tessera/tessera.hpp>

namespace {

using namespace tessera;

bool multiplies_right() {
  const char* const word = std::getenv("TESTED_BACKEND");
  const Matrix<float> a{{1, 2}, {3, 4}};
  return gemm(a, a, word != nullptr ? parse_backend(word) : Backend::Auto) == Matrix<float>{{7, 10}, {15, 22}};
}

struct AtBothEnds {
  AtBothEnds() noexcept {
    if (void* function = dlsym(RTLD_DEFAULT, "tessera_test_in_constructor")) reinterpret_cast<void (*)()>(function)();
    was_right = check("loaded");
  }
  ~AtBothEnds() {
    if (!check("unloaded")) _exit(3);
  }
  static bool check(const char* when) noexcept try { return multiplies_right(); } catch (const std::exception& error) {
    std::fprintf(stderr, "while the library is %s: %s\n", when, error.what());
    return false;
  }
  bool was_right;
} at_both_ends;

} // namespace

extern "C" __attribute__((visibility("default"))) int tessera_test_was_right() { return at_both_ends.was_right; }
