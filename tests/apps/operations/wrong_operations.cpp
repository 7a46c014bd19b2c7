/// Operations that must not compile, each with a sentence that says why. A definition chooses one.

#include <tessera/user_kernel/operation.hpp>

using namespace tessera;

struct Wrong {
#if defined(NAME_WITH_A_COMMA)
  static constexpr char name[] = "one,two";
#else
  static constexpr char name[] = "wrong";
#endif

#if defined(FINE)
  static void run(const OperationRun&, In<float>, InOut<double>) {}
#elif defined(NO_RUN)
#elif defined(TAKES_A_POINTER)
  static void run(const OperationRun&, float*) {}
#elif defined(WHOLE_64_BITS)
  static void run(const OperationRun&, Out<std::int64_t>) {}
#elif defined(WRITES_NOTHING)
  static void run(const OperationRun&, In<float>) {}
#elif defined(RETURNS_INT)
  static int run(const OperationRun&, In<float>) { return 1; }
#elif defined(FOUR_SIZES)
  static constexpr int sizes = 4;
  static void run(const OperationRun&, Out<float>) {}
#elif defined(THREE_SIZES_WITHOUT_SHAPES)
  static constexpr int sizes = 3;
  static void run(const OperationRun&, Out<float>) {}
#elif defined(TOO_FEW_SHAPES)
  static std::array<ArrayShape, 1> shapes(const OperationSizes&) { return {}; }
  static void run(const OperationRun&, In<float>, Out<float>) {}
#else
  static void run(const OperationRun&, Out<float>) {}
#endif
};

TESSERA_OPERATIONS(Wrong)
