/// Returns NaN everywhere, because a comparison with NaN that is written the wrong way round accepts everything.
/// Published: pygpubench, pull request 7 (gc_nan).
#include <limits>

extern "C" void solve(const float*, const float*, float* c, int m, int, int n) {
  for (int i = 0; i < m * n; ++i) c[i] = std::numeric_limits<float>::quiet_NaN();
}
