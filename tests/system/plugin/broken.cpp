/// A plug-in with one fault, which a definition chooses. Without a fault it works, with the reference's kernels.

#include <dlfcn.h>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <tessera/backend/plugin.hpp>
#include <tessera/tessera.hpp>

#include "support/borrowing_executor.hpp"
#include "support/table_head.hpp"

namespace {

using namespace tessera;

class BorrowedExecutor final : public test::BorrowingExecutor {
 public:
  BorrowedExecutor() : BorrowingExecutor(Backend::Tbb) { capabilities_.device = "borrowed from the reference"; }
};

#if defined(USES_AS_LOADED) || defined(USES_IN_CREATE)
std::string product_on(const char* word) {
  try {
    const Matrix<float> a{{1, 2}, {3, 4}};
    const bool right = gemm(a, a, parse_backend(word)) == Matrix<float>{{7, 10}, {15, 22}};
    return std::string(word) + (right ? ": right; " : ": wrong; ");
  } catch (const std::exception& error) {
    return std::string(word) + ": " + error.what() + "; ";
  }
}

/// Uses the library, and tells what came of it.
void use_the_library() {
  setenv("TESSERA_TEST_MET", (product_on("auto") + product_on("tbb") + product_on("reference")).c_str(), 1);
}
#endif

#if defined(USES_AS_LOADED)
[[maybe_unused]] const int used = (use_the_library(), 0);
#endif

/// Calls a function of the test program, if it has one of this name.
[[maybe_unused]] void call_test(const char* name) {
  if (void* function = dlsym(RTLD_DEFAULT, name)) reinterpret_cast<void (*)()>(function)();
}

Status probe() {
#if defined(THROWS_IN_PROBE)
  throw std::runtime_error("the probe fell over");
#elif defined(PROBE_FAILS)
  return Status::failure(StatusCode::Unavailable, "there is no such device; plug one in");
#elif defined(LOADS_SLOWLY) // the test program says how slowly
  call_test("tessera_test_while_loading");
  return {};
#else
  return {};
#endif
}

[[maybe_unused]] Status create(const ExecutorOptions&, [[maybe_unused]] Executor*& executor) {
#if defined(THROWS_IN_CREATE)
  static BorrowedExecutor half_made; // must not be used
  executor = &half_made;
  throw std::runtime_error("create fell over");
#elif defined(THROWS_AN_INT)
  throw 42;
#elif defined(CREATE_FAILS)
  return Status::failure(StatusCode::OutOfMemory, "no memory for the work queue");
#elif defined(CREATE_MAKES_NOTHING)
  return {};
#else
#if defined(USES_IN_CREATE)
  use_the_library();
#elif defined(MAKES_SLOWLY)
  call_test("tessera_test_while_making");
#endif
  executor = new BorrowedExecutor;
  return {};
#endif
}

[[maybe_unused]] const PluginInfo info {
  .struct_size = test::table_size(sizeof(PluginInfo)), .abi_version = test::table_abi(plugin_abi_version),
  .build_tag = test::table_tag,
#if defined(WRONG_NAME)
  .name = "opencl",
#else
  .name = PLUGIN_NAME,
#endif
  .description = "for tests", .probe = probe,
#if defined(NULL_FUNCTION)
  .create = nullptr,
#else
  .create = create,
#endif
  .destroy = [](Executor* executor) { delete executor; },
  .gemm_kernels = [] { return gemm_kernels(Backend::Reference); },
  .reduce_kernels = [] { return reduce_kernels(Backend::Reference); },
};

} // namespace

#if defined(NO_SYMBOL)
#define ENTRY another_entry_point
#else
#define ENTRY tessera_plugin
#endif

extern "C" __attribute__((visibility("default"))) const tessera::PluginInfo* ENTRY() noexcept {
#if defined(NULL_INFO)
  return nullptr;
#else
  return &info;
#endif
}
