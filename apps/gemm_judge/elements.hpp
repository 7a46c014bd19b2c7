#pragma once

/// The types of a judged product's elements: the types of the list that have a number in kernel_abi.h.
/// Besides the element types of matrices there is int8, whose products are int32_t, which no kernel of a ladder
/// computes.

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <tessera/half.hpp>
#include <tessera/types.hpp>

namespace tessera::judge {

/// The largest k of an int8 product: no sum leaves the half of int32_t's range.
inline constexpr Index largest_int8_k = Index{1} << 16;

/// Is a kernel from outside judged with operands of this type?
constexpr bool is_judged(DType type) noexcept {
  return is_known_type(type) && element_type(type).kernel != TESSERA_NO_KERNEL;
}
/// Are the products of such operands whole numbers, which are exact in C's type? No ladder has kernels for them.
constexpr bool is_whole(DType type) noexcept { return is_judged(type) && !is_element_type(type); }
/// Returns the type of C's elements.
constexpr DType result_of(DType type) noexcept { return element_type(type).result; }

/// Returns the name of the leetgpu function for a type.
inline std::string leetgpu_function(DType type) {
  return type == DType::F32 ? "solve" : "solve_" + std::string(element_type(type).name);
}

namespace detail {
template <class... Ts>
struct WithTypes {
  template <class F>
  static decltype(auto) call(DType type, F& f) {
    return first<F, Ts...>(type, f);
  }

 private:
  template <class F, class T, class... Others>
  static decltype(auto) first(DType type, F& f) {
    constexpr const ElementType& facts = known_types.facts[known_types.template place_of<T>()];
    if constexpr (is_judged(facts.type)) {
      using R = typename decltype(known_types)::template At<known_types.place_of(facts.result)>;
      if constexpr (sizeof...(Others) == 0) {
        return f(std::type_identity<T>{}, std::type_identity<R>{});
      } else {
        if (type == facts.type) return f(std::type_identity<T>{}, std::type_identity<R>{});
        return first<F, Others...>(type, f);
      }
    } else if constexpr (sizeof...(Others) == 0) {
      return f(std::type_identity<float>{}, std::type_identity<float>{});
    } else {
      return first<F, Others...>(type, f);
    }
  }
};
} // namespace detail

/// Calls f(std::type_identity<T>{}, std::type_identity<R>{}), where A and B have elements of T, and C of R.
template <class F>
decltype(auto) with_types(DType type, F&& f) {
  return decltype(known_types)::Apply<detail::WithTypes>::call(type, f);
}

/// The type in which sums are as good as exact beside sums in T's own precision.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, double>, long double, double>;

} // namespace tessera::judge
