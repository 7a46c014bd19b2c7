/// A library of operations with one fault, which a definition chooses.

#include <tessera/user_kernel/operation.hpp>

namespace {

using namespace tessera;

struct Doubling {
  static constexpr char name[] = "doubling_of_tests";
  In<float> x;
  Out<float> y;
  TESSERA_FN void operator()(Index i) const { y(i) = 2 * x(i); }
};

struct Operation {
#if defined(TAKEN_NAME)
  static constexpr char name[] = "copy"; // gemm_compare has it, also of f32
#elif defined(OWN_NAME)
  static constexpr char name[] = "gemm";
#else
  static constexpr char name[] = "doubling";
#endif
  static void run(const OperationRun& x, In<float> from, Out<float> to) {
    for_each(x.executor, x.queue, x.n, Doubling{from, to}, x.options);
  }
};

#if defined(NULL_TABLE)
const OperationTable* made() { return nullptr; }
#else
const OperationTable* made() {
  static OperationTable table = *tessera::detail::table_of_operations<Operation>();
#if defined(WRONG_ABI)
  table.abi_version = operation_table_abi + 1;
#elif defined(WRONG_SIZE)
  table.struct_size += 8;
#elif defined(WRONG_TAG)
  table.build_tag = "another-standard-library";
#endif
  return &table;
}
#endif

} // namespace

#if defined(NO_SYMBOL)
#define ENTRY another_function
#else
#define ENTRY tessera_operations
#endif

extern "C" __attribute__((visibility("default"))) const tessera::OperationTable* ENTRY() noexcept { return made(); }
