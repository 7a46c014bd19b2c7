/// Functors that must not compile, each with a sentence that says why. A definition chooses one.

#include <string>

#include <tessera/backend.hpp>
#include <tessera/user_kernel/user_kernel.hpp>

using namespace tessera;

struct Fine {
  static constexpr char name[] = "fine";
  Out<float> y;
  TESSERA_FN void operator()(Index i) const { y(i) = 1.0f; }
};
struct OwnsMemory {
  static constexpr char name[] = "owns_memory";
  std::string text;
  void operator()(Index) const {}
};
struct Nameless {
  void operator()(Index) const {}
};
struct TwoIndices {
  static constexpr char name[] = "two_indices";
  void operator()(Index, Index) const {}
};
struct ReturnsInt {
  static constexpr char name[] = "returns_int";
  int operator()(Index) const { return 1; }
};
#if defined(READS_OUT)
struct ReadsOut {
  static constexpr char name[] = "reads_out";
  Out<float> y;
  TESSERA_FN void operator()(Index i) const { y(i) = y(i) + 1.0f; }
};
#endif

int main() {
  Executor& e = executor(Backend::Reference);
#if defined(FINE)
  for_each(e, 0, Fine{});
#elif defined(OWNS_MEMORY)
  for_each(e, 3, OwnsMemory{});
#elif defined(NAMELESS)
  for_each(e, 3, Nameless{});
#elif defined(LAMBDA)
  for_each(e, 3, [](Index) {});
#elif defined(TWO_INDICES)
  for_each(e, 3, TwoIndices{});
#elif defined(RETURNS_INT)
  sum(e, 3, ReturnsInt{});
#elif defined(DROPS_RESULT)
  for_each(e, 3, ReturnsInt{});
#elif defined(READS_OUT)
  for_each(e, 3, ReadsOut{});
#endif
}
