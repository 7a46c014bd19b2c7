/// A plug-in with one fault, which a definition chooses. Without a fault it works, with the reference's kernels.

#include <dlfcn.h>
#include <stdexcept>

#include <tessera/backend/plugin.hpp>

#include "support/borrowing_executor.hpp"

namespace {

using namespace tessera;

class BorrowedExecutor final : public test::BorrowingExecutor {
 public:
  BorrowedExecutor() : BorrowingExecutor(Backend::Tbb) { capabilities_.device = "borrowed from the reference"; }
};

Status probe() {
#if defined(THROWS_IN_PROBE)
  throw std::runtime_error("the probe fell over");
#elif defined(PROBE_FAILS)
  return Status::failure(StatusCode::Unavailable, "there is no such device; plug one in");
#elif defined(LOADS_SLOWLY) // the test program says how slowly
  if (void* function = dlsym(RTLD_DEFAULT, "tessera_test_while_loading")) reinterpret_cast<void (*)()>(function)();
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
  executor = new BorrowedExecutor;
  return {};
#endif
}

[[maybe_unused]] const PluginInfo info {
#if defined(WRONG_SIZE)
  .struct_size = sizeof(PluginInfo) + 8,
#else
  .struct_size = sizeof(PluginInfo),
#endif
#if defined(WRONG_ABI)
  .abi_version = plugin_abi_version + 1,
#else
  .abi_version = plugin_abi_version,
#endif
#if defined(WRONG_TAG)
  .build_tag = "another-standard-library",
#else
  .build_tag = TESSERA_BUILD_TAG,
#endif
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
