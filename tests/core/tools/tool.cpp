/// Tools as libraries: one that works, and others with the fault that a macro names.

#include <cstdio>

#include <tessera/tools.hpp>
#if defined(MULTIPLIES_AS_LOADED) || defined(MULTIPLIES_IN_ENTRY)
#include <tessera/tessera.h>
#endif

using namespace tessera;

#if defined(MULTIPLIES_AS_LOADED) || defined(MULTIPLIES_IN_ENTRY)
namespace {

void multiply() {
  const float x = 2;
  float y = 0;
  const int status = tessera_gemm_f32(TESSERA_NONE, TESSERA_NONE, 1, 1, 1, 1, &x, 1, &x, 1, 0, &y, 1, nullptr);
  std::fprintf(stderr, "the tool's own product: status %d, %g\n", status, static_cast<double>(y));
}

} // namespace
#endif

#if defined(MULTIPLIES_AS_LOADED)
__attribute__((constructor)) static void as_it_is_loaded() { multiply(); }
#endif

#if !defined(NO_ENTRY)
namespace {

long products = 0;

void end(const tools::Operation& operation, StatusCode, void*) noexcept {
  products += operation.kind == tools::Kind::Product && operation.parent == 0;
}
void finish(void*) noexcept { std::fprintf(stderr, "the tool saw %ld products\n", products); }

const tools::Tool tool = [] {
  tools::Tool made;
  made.name = "counter";
  made.end = end;
  made.finish = finish;
#if defined(WRONG_SIZE)
  made.struct_size = 8;
#endif
  return made;
}();

} // namespace

extern "C" __attribute__((visibility("default"))) const tools::Tool* tessera_tool() noexcept {
#if defined(RETURNS_NULL)
  return nullptr;
#else
#if defined(MULTIPLIES_IN_ENTRY)
  multiply();
#endif
  return &tool;
#endif
}
#endif
