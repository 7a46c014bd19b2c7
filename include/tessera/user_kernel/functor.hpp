#pragma once

/// What a functor must be, and the functors that stand for a reduction and a scan.
///
/// A functor is a trivially copyable struct with a name and a const call operator of one index, of two, or of both:
///
///     struct Square {
///       static constexpr char name[] = "square";
///       tessera::In<float> x;
///       TESSERA_FN double operator()(Index i, Index j) const { return double(x(i, j)) * x(i, j); }
///     };
///
/// The name finds the functor's device code in the program's plug-in, so it is unique in the program. The call operator
/// may call functions that are marked TESSERA_FN; it may be called for the indices in any order and at the same time.
///
/// Source: Kokkos's functors; the name takes the place of the device lambda's type.

#include <array>
#include <cstddef>
#include <type_traits>

#include <tessera/user_kernel/view.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// The result of min() and max(): the value, and its place. In a loop over one index, row is 0 and col is the index.
template <class T>
struct Extremum {
  T value;   ///< the smallest or largest value; the first NaN where there is one
  Index row; ///< the row of its first place
  Index col; ///< the column of its first place
};

/// How a loop is shared out to the threads of a processor. A device ignores it. Negative numbers are refused.
struct LoopOptions {
  int threads = 0; ///< threads to use; 0: as many as the executor was made with
  Index grain = 0; ///< the fewest indices for a thread, say 1 where each index takes long; 0: 4096
};

namespace detail {

/// The type that a functor returns for one index (dimensions = 1) or two.
template <class F, int dimensions>
struct Returned {
  using Type = void;
  static constexpr bool callable = false;
};
template <class F>
requires std::is_invocable_v<const F&, Index>
struct Returned<F, 1> {
  using Type = std::remove_cvref_t<std::invoke_result_t<const F&, Index>>;
  static constexpr bool callable = true;
};
template <class F>
requires std::is_invocable_v<const F&, Index, Index>
struct Returned<F, 2> {
  using Type = std::remove_cvref_t<std::invoke_result_t<const F&, Index, Index>>;
  static constexpr bool callable = true;
};
template <class F, int dimensions>
using ReturnOf = typename Returned<F, dimensions>::Type;
template <class F, int dimensions>
inline constexpr bool is_callable = Returned<F, dimensions>::callable;

/// The types in which sums and extrema are computed.
template <class T>
inline constexpr bool is_reducible =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::int64_t>;

template <class F>
concept Named = requires {
  static_cast<const char*>(F::name);
};

/// Stops the compilation, in words, where F is no functor.
template <class F>
constexpr void require_functor() {
  static_assert(std::is_class_v<F>, "a functor is a struct with a name and a call operator; a lambda has no name");
  static_assert(std::is_trivially_copyable_v<F>,
                "a functor must be trivially copyable, because its bytes go to the device: give it views (tessera::In, "
                "Out, InOut) and numbers as members, no matrices, vectors or strings");
  static_assert(
      Named<F>,
      "a functor must have a name: static constexpr char name[] = \"...\"; by which its device code is found");
}
template <class F, int dimensions>
constexpr void require_call() {
  require_functor<F>();
  static_assert(is_callable<F, dimensions>,
                "the functor has no matching call operator: a loop over n calls f(i), a loop over rows and cols calls "
                "f(i, j), with tessera::Index; the operator must be const");
}

/// "first/second", as an array of characters.
template <class First, class Second>
struct JoinedName {
  static constexpr std::size_t first = sizeof(First::name) - 1, second = sizeof(Second::name);
  static constexpr auto make() {
    std::array<char, first + 1 + second> joined{};
    for (std::size_t i = 0; i < first; ++i) joined[i] = First::name[i];
    joined[first] = '/';
    for (std::size_t i = 0; i < second; ++i) joined[first + 1 + i] = Second::name[i];
    return joined;
  }
  static constexpr auto text = make();
};

} // namespace detail

/// The values of `f`, combined by `combine`: what reduce() runs, and what the .cu lists for it,
/// TESSERA_CUDA_KERNELS(tessera::Reduction<Square, Largest>). Combine has a name, `T operator()(T, T) const` and
/// `T identity() const`; T is trivially copyable, of a multiple of 4 bytes and at most 64.
template <class F, class Combine>
struct Reduction {
  F f;             ///< gives a value for an index
  Combine combine; ///< combines two values; associative and commutative, except for rounding
  /// The names of both, with '/' between them.
  static constexpr const char* name = detail::JoinedName<F, Combine>::text.data();
};

namespace detail {
template <class F>
inline constexpr bool is_reduction = false;
template <class F, class Combine>
inline constexpr bool is_reduction<Reduction<F, Combine>> = true;
} // namespace detail

/// The sums of the elements up to each one: what inclusive_scan() runs, and what the .cu lists for it,
/// TESSERA_CUDA_KERNELS(tessera::Scan<double>). T is float, double or std::int64_t.
template <class T>
struct Scan {
  static_assert(detail::is_reducible<T>, "a scan is of float, double or std::int64_t");
  In<T> in;   ///< a vector
  Out<T> out; ///< a vector of the same length; it may be the same memory with the same stride
  /// "inclusive_scan" with the type.
  static constexpr const char* name = std::is_same_v<T, float>    ? "inclusive_scan f32"
                                      : std::is_same_v<T, double> ? "inclusive_scan f64"
                                                                  : "inclusive_scan i64";
};

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
