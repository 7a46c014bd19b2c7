#pragma once

/// Operations of a program's own for `gemm_compare --op`, which races them across the backends: how long each takes,
/// what bandwidth it reaches, and how many bits differ from the reference's.
///
/// An operation is a struct that runs functors (user_kernel.hpp) on arrays. gemm_compare makes the arrays, fills them
/// with random numbers and compares what was written. The parameters of run() say what each array is: In is read, Out
/// is written as a whole, InOut is updated.
///
///     // heat.cpp, which becomes a library; heat.hpp has the functor Step, and heat.cu lists it for CUDA
///     #include <tessera/user_kernel/operation.hpp>
///     #include "heat.hpp"
///     struct Heat {
///       static constexpr char name[] = "heat";
///       static constexpr char summary[] = "a step of the heat equation";
///       static constexpr int sizes = 2;        // m and n; the arrays are m×n
///       static constexpr double flops = 6;     // of an index
///       static void run(const tessera::OperationRun& x, tessera::In<float> old, tessera::Out<float> next) {
///         tessera::for_each(x.executor, x.queue, x.m, x.n, Step{old, next, 0.1f}, x.options);
///       }
///     };
///     TESSERA_OPERATIONS(Heat)
///
///     // CMakeLists.txt
///     add_library(heat MODULE heat.cpp)
///     target_link_libraries(heat PRIVATE tessera::tessera)
///     tessera_add_kernels(heat heat.cu)
///
///     gemm_compare --op-plugin ./libheat.so --op heat
///
/// Members of an operation:
///
///     name, run    these two are necessary. The name has letters, digits and _ - . +
///     summary      one line about it
///     sizes        1 (n; the default), 2 (m and n) or 3 (m, n and k). The operation has m·n·k indices.
///     shapes       std::array<ArrayShape, ARRAYS> shapes(const OperationSizes&): where the arrays are not vectors of n
///                  elements (of one size) or m×n (of two)
///     flops        floating-point operations of an index; 0 by default
///     bytes        bytes that an index moves; by default each array is moved once, and an updated one twice
///     reject       const char* reject(const OperationSizes&): why sizes do not suit; null if they do
///     ulps         how far a result may be from the reference's, in units in the last place, where the functor calls
///                  functions whose bits are not equal everywhere (sin, pow); 0 by default: the bits are the same
///
/// run() may return what was computed: float, double, std::int64_t, or an Extremum of one of them. It may throw; the
/// entry then has the exception's text. It runs in gemm_compare's own process: a functor that crashes ends the race.
///
/// Two operations may share a name where their first arrays have different element types: --dtype chooses.

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include <tessera/backend/build_tag.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/user_kernel/operation_table.hpp>
#include <tessera/user_kernel/user_kernel.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// What run() of an operation gets beside its arrays.
struct OperationRun {
  Executor& executor;  ///< where to run
  Queue& queue;        ///< the queue to run in
  Index m;             ///< the first of two or three sizes; else 1
  Index n;             ///< the only size, or the second one
  Index k;             ///< the third size; else 1
  LoopOptions options; ///< the number of threads, for the call of for_each(), sum() and so on
};

namespace detail {

template <class V>
struct ViewFacts {
  static constexpr bool is_view = false;
};
template <class T, ArrayAccess access_>
struct FactsOfView {
  static_assert(ElementNumber<T> || std::is_same_v<T, std::int32_t>,
                "arrays of an operation have elements of float, double, f16, bf16 or std::int32_t");
  static constexpr bool is_view = true;
  static constexpr OperationArray array() {
    if constexpr (std::is_same_v<T, std::int32_t>)
      return {DType::I32, access_};
    else
      return {dtype_of<T>, access_};
  }
};
template <class T>
struct ViewFacts<In<T>> : FactsOfView<T, ArrayAccess::Read> {};
template <class T>
struct ViewFacts<Out<T>> : FactsOfView<T, ArrayAccess::Written> {};
template <class T>
struct ViewFacts<InOut<T>> : FactsOfView<T, ArrayAccess::Updated> {};

inline OperationNumber number_of(float x) { return {NumberKind::F32, std::bit_cast<std::uint32_t>(x)}; }
inline OperationNumber number_of(double x) { return {NumberKind::F64, std::bit_cast<std::uint64_t>(x)}; }
inline OperationNumber number_of(std::int64_t x) { return {NumberKind::I64, static_cast<std::uint64_t>(x)}; }

template <class T>
OperationValue value_of(const T& x) {
  static_assert(is_reducible<T>,
                "run() of an operation returns nothing, float, double, std::int64_t or an Extremum of them");
  return {1, {number_of(x), {}, {}}};
}
template <class T>
OperationValue value_of(const Extremum<T>& x) {
  return {3, {number_of(x.value), number_of(x.row), number_of(x.col)}};
}

constexpr bool is_operation_name(const char* name) {
  if (*name == '\0') return false;
  for (; *name != '\0'; ++name) {
    const char c = *name;
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !(c >= '0' && c <= '9') && c != '_' && c != '-' && c != '.' && c != '+') return false;
  }
  return true;
}

template <class Op>
concept HasRun = requires {
  &Op::run;
};
template <class Op>
constexpr int sizes_of() {
  if constexpr (requires { Op::sizes; })
    return Op::sizes;
  else
    return 1;
}

/// The entry of an operation whose run() has these parameters. Its symbols are hidden: two libraries may have different
/// operations with one C++ name.
template <class Op, class R, class... Views>
struct __attribute__((visibility("hidden"))) TypedOperation {
  static_assert((ViewFacts<Views>::is_view && ...),
                "run() of an operation takes const OperationRun& and then views by value: In, Out or InOut");
  static constexpr std::array<OperationArray, sizeof...(Views)> arrays{ViewFacts<Views>::array()...};
  static constexpr bool writes = !std::is_void_v<R> || ((ViewFacts<Views>::array().access != ArrayAccess::Read) || ...);
  static_assert(writes,
                "an operation writes an array (Out or InOut) or returns a number; else nothing can be compared");
  static constexpr bool has_shapes = requires(const OperationSizes& sizes) {
    { Op::shapes(sizes) } -> std::same_as<std::array<ArrayShape, sizeof...(Views)>>;
  };
  static_assert(sizes_of<Op>() >= 1 && sizes_of<Op>() <= 3, "an operation has 1, 2 or 3 sizes");
  static_assert(
      has_shapes || !requires { &Op::shapes; },
      "shapes() of an operation is static, takes const OperationSizes& and returns a std::array of as many "
      "ArrayShapes as run() takes views");
  static_assert(has_shapes || sizes_of<Op>() < 3 || sizeof...(Views) == 0,
                "an operation of three sizes says the shapes of its arrays: give it shapes()");
  static_assert(is_operation_name(Op::name), "an operation's name has letters, digits and _ - . +");

  static void shapes(const OperationSizes& sizes, ArrayShape* shapes) noexcept {
    if constexpr (has_shapes) {
      const auto all = Op::shapes(sizes);
      for (std::size_t a = 0; a < all.size(); ++a) shapes[a] = all[a];
    } else {
      for (std::size_t a = 0; a < arrays.size(); ++a) shapes[a] = {sizes.m, sizes.n};
    }
  }

  static const char* reject(const OperationSizes& sizes) noexcept {
    if constexpr (requires { Op::reject(sizes); })
      return Op::reject(sizes);
    else
      return nullptr;
  }

  template <class V>
  static V view(const OperationLaunch& x, std::size_t a) {
    const ArrayPlace& at = x.arrays[a];
    return make_view<V>(memory_view(at.data, at.rows, at.cols, at.ld, x.executor));
  }
  template <std::size_t... a>
  static void call(const OperationLaunch& x, std::index_sequence<a...>) {
    const auto [m, n, k] = x.sizes;
    const OperationRun run{x.executor, x.queue, m, n, k, {.threads = x.threads}};
    if constexpr (std::is_void_v<R>)
      Op::run(run, view<Views>(x, a)...);
    else
      x.value = value_of(Op::run(run, view<Views>(x, a)...));
  }
  static Status run(const OperationLaunch& x) noexcept try {
    call(x, std::index_sequence_for<Views...>());
    return {};
  } catch (const Error& error) {
    return {error.code(), error.what()};
  } catch (const std::bad_alloc& error) {
    return out_of_memory(error);
  } catch (const std::exception& error) {
    return {StatusCode::Internal, std::string("it threw: ") + error.what()};
  } catch (...) {
    return {StatusCode::Internal, "it threw something that is no std::exception"};
  }

  static constexpr OperationEntry entry() {
    OperationEntry entry{};
    entry.name = Op::name;
    entry.summary = "";
    if constexpr (requires { Op::summary; }) entry.summary = Op::summary;
    entry.sizes = sizes_of<Op>();
    entry.type = DType::F64;
    if constexpr (sizeof...(Views) > 0) entry.type = arrays[0].type;
    entry.arrays = arrays.data();
    entry.count = arrays.size();
    if constexpr (requires { Op::flops; }) entry.flops = Op::flops;
    entry.bytes = -1;
    if constexpr (requires { Op::bytes; }) entry.bytes = Op::bytes;
    if constexpr (requires { Op::ulps; }) entry.ulps = Op::ulps;
    entry.reject = &reject;
    entry.shapes = &shapes;
    entry.run = &run;
    return entry;
  }
};

template <class Op, class R, class... Views>
constexpr OperationEntry entry_of_run(R (*)(const OperationRun&, Views...)) {
  return TypedOperation<Op, R, Views...>::entry();
}
template <class Op>
constexpr OperationEntry operation_entry() {
  static_assert(std::is_class_v<Op> && HasRun<Op>,
                "an operation is a struct with a name and one function run(), which is static and no template");
  return entry_of_run<Op>(&Op::run);
}

/// The table of these operations.
template <class... Ops>
__attribute__((visibility("hidden"))) const OperationTable* table_of_operations() noexcept {
  static constexpr OperationEntry entries[] = {operation_entry<Ops>()...};
  static const OperationTable table{sizeof(OperationTable), operation_table_abi, TESSERA_BUILD_TAG, entries,
                                    sizeof...(Ops)};
  return &table;
}

} // namespace detail
} // namespace tessera

/// Defines the function that a library of operations exports, with these operations. A library has it once.
#define TESSERA_OPERATIONS(...)                                                                                    \
  extern "C" __attribute__((visibility("default"))) const tessera::OperationTable* tessera_operations() noexcept { \
    return tessera::detail::table_of_operations<__VA_ARGS__>();                                                    \
  }

#include <tessera/detail/macros_on.hpp>
