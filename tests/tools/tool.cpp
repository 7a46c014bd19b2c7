/// Tools as libraries: one that works, and others with the fault that a macro names.

#include <cstdio>

#include <tessera/tools.hpp>

using namespace tessera;

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
  return &tool;
#endif
}
#endif
