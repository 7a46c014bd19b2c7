/// Makes the file of a lesson on factors a kernel for the judge. TESSERA_LESSON_FILE names the file, which has the
/// shape of a rung of the textbook, TESSERA_LESSON_HELPER a rung that it calls, if it calls one, and
/// TESSERA_LESSON_CALL is the call: the matrix `a` is n×n, and `width` columns of it are factored. Of the judge's
/// product C has n + 1 rows: the matrix, and below it the pivots. A holds the matrix at first. alpha = 2 asks for half
/// of the columns. With TESSERA_LESSON_COUNTS the kernel counts its accesses to memory and its products, and leaves the
/// counts in C.

#ifdef TESSERA_LESSON_COUNTS
#define subtract_product uncounted_product
#include "product.hpp"
#undef subtract_product

namespace tessera::lessons {
inline double longest_product = 0, in_products = 0; // NOLINT: what counts has no other way to them
} // namespace tessera::lessons

namespace tessera::compare_app::textbook {
template <class T>
void subtract_product(Index m, Index n, Index k, const T* a, Index lda, const T* b, Index ldb, T* c, Index ldc) {
  if (m > 0 && n > 0 && static_cast<double>(k) > lessons::longest_product)
    lessons::longest_product = static_cast<double>(k);
  lessons::in_products += static_cast<double>(m * n * k);
  uncounted_product(m, n, k, a, lda, b, ldb, c, ldc);
}
} // namespace tessera::compare_app::textbook
#endif

#ifdef TESSERA_LESSON_HELPER
#include TESSERA_LESSON_HELPER
#endif

#include TESSERA_LESSON_FILE

#include <cstdio>
#include <vector>

#include <tessera/backend/kernel_abi.h>

#ifdef TESSERA_LESSON_COUNTS
#include "lessons/cpu/counting.hpp"
#endif

namespace {

template <class T>
int run_lesson(const tessera_kernel_call& x) {
  using namespace tessera::compare_app::textbook; // NOLINT: the call is a rung's
  [[maybe_unused]] static const int by_lines = std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  const tessera::Index n = x.n;
  [[maybe_unused]] const tessera::Index width = x.alpha == 2 ? n / 2 : n;
  T* const a = static_cast<T*>(x.c);
  const T* const from = static_cast<const T*>(x.a);
  for (tessera::Index i = 0; i < n; ++i)
    for (tessera::Index j = 0; j < n; ++j) a[i * n + j] = from[i * x.lda + j];
  std::vector<tessera::Index> numbers(static_cast<std::size_t>(n), -1);
  [[maybe_unused]] tessera::Index* const pivots = numbers.data();
#ifdef TESSERA_LESSON_COUNTS
  tessera::lessons::begin_counting(x);
#endif
  TESSERA_LESSON_CALL;
#ifdef TESSERA_LESSON_COUNTS
  tessera::lessons::counting.counts.longest_product = tessera::lessons::longest_product;
  tessera::lessons::counting.counts.in_products = tessera::lessons::in_products;
  tessera::lessons::end_counting(x);
#else
  for (tessera::Index j = 0; j < n; ++j) a[n * n + j] = static_cast<T>(numbers[static_cast<std::size_t>(j)]);
#endif
  return 0;
}

} // namespace

extern "C" [[gnu::visibility("default")]] const char* tessera_kernel_reject(const tessera_kernel_call* call) {
  return call->type == TESSERA_KERNEL_F32 || call->type == TESSERA_KERNEL_F64 ? nullptr : "f32 and f64 only";
}

extern "C" [[gnu::visibility("default")]] int tessera_kernel(const tessera_kernel_call* call) {
  return call->type == TESSERA_KERNEL_F64 ? run_lesson<double>(*call) : run_lesson<float>(*call);
}
