/// One of two libraries whose C++ names are the same, and which do different things: TWIN is 1 or 2.

#include "twin.hpp"

#include <tessera/user_kernel/operation.hpp>

using namespace tessera;

struct TwinOperation {
#if TWIN == 1
  static constexpr char name[] = "first_twin";
#else
  static constexpr char name[] = "second_twin";
#endif
  static void run(const OperationRun& x, In<float> from, Out<float> to) {
    for_each(x.executor, x.queue, x.n, Twin{from, to, 10 * TWIN}, x.options);
  }
};

TESSERA_OPERATIONS(TwinOperation)
