#pragma once

/// The last step of a product, at the store of its sums and while they are in registers: alpha, beta, the epilogue, and
/// one rounding to the type of C. elementwise/epilogue.cu computes equal bits in a separate pass over C.
///
/// Where no epilogue and no other type of C is `wanted`, a kernel stores its sums with its own code. Otherwise it puts
/// them into local or shared memory, where a loop that is not unrolled can index them, and stores them here, a few at a
/// time: unrolled code for every result would not fit the instruction cache.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include <tessera/backend/activation.hpp>
#include <tessera/backend/kernel.hpp>

#include "rounding.cuh"
#include "scaled_result.hpp"

namespace tessera::cuda {

/// `count` elements that are neighbours in memory.
template <class R, int count>
struct alignas(sizeof(R) * count) Neighbours {
  R element[count];
};

/// The row and column of a result in C.
struct ResultPlace {
  Index row, col;
};

/// Describes how sums become results in C. It is passed by value among a kernel's parameters. S is the type of the
/// sums.
template <class S>
struct EpilogueStore {
  static constexpr int width = 16 / sizeof(S); ///< elements that are read or written at once, at most

  bool wanted = false;       ///< there is more to do than alpha and beta, or C's type is not the kernel's own
  bool vectors = false;      ///< rows of C and of the residual begin at multiples of `width` elements
  bool bias_vectors = false; ///< the bias has a number for each column and begins at such a multiple too
  DType result = dtype_of<S>;
  Epilogue epilogue = {};
  void* c = nullptr;
  Index ldc = 0, m = 0, n = 0;
  S alpha{}, beta{};

  EpilogueStore() = default;
  explicit EpilogueStore(const GemmCall& call) : EpilogueStore(call, ScaledResult<S, void>::of(call)) {}
  __host__ __device__ void look_for_vectors() {
    const unsigned bytes = width * static_cast<unsigned>(result == DType::F64 ? 8 : result == DType::F32 ? 4 : 2);
    const auto places = reinterpret_cast<std::uintptr_t>(c) | reinterpret_cast<std::uintptr_t>(epilogue.residual);
    vectors = places % bytes == 0 && (ldc | epilogue.ld_residual) % width == 0;
    bias_vectors = epilogue.bias_per == BiasPer::Column && epilogue.bias_step == 1 &&
                   reinterpret_cast<std::uintptr_t>(epilogue.bias) % bytes == 0;
  }

  /// Stores results: for v = 0 … places − 1, sum[v] holds the sums of C(i, j) and its right neighbours, where (i, j) is
  /// place(v). Results outside C are skipped. j is a multiple of `count`.
  template <int places, int count, class PlaceOf>
  __device__ void store(PlaceOf place, const S (&sum)[places][count]) const {
    static_assert(width % count == 0);
    bool whole = vectors;
#pragma unroll
    for (int v = 0; v < places; ++v) {
      const ResultPlace at = place(v);
      whole = whole && at.row < m && at.col + count <= n;
    }
    if (whole) return store_as<true>(place, sum);
    S one[places][1][count]; // in local memory, because the loop below is not unrolled
#pragma unroll
    for (int v = 0; v < places; ++v)
#pragma unroll
      for (int e = 0; e < count; ++e) one[v][0][e] = sum[v][e];
#pragma unroll 1
    for (int v = 0; v < places; ++v) {
      const ResultPlace at = place(v);
      if (at.row < m && at.col < n) store_as<false>([&](int) { return at; }, one[v]);
    }
  }

 private:
  // The members of ScaledResult stand apart here: this order is part of the parameters of every kernel.
  EpilogueStore(const GemmCall& call, const ScaledResult<S, void>& to)
      : wanted(!is_plain_product(call)),
        result(call.result),
        epilogue(call.epilogue),
        c(to.c),
        ldc(to.ldc),
        m(call.m),
        n(call.n),
        alpha(to.alpha),
        beta(to.beta) {
    look_for_vectors();
  }

  /// Stores the results. If `whole`, all of them are in C, and neighbours are read and written at once; otherwise all
  /// rows are in C, and each column is checked. All reads of one kind (old C, bias, residual) are in flight before the
  /// first of them is used, and the kinds follow one another, because registers are few.
  template <bool whole, int places, int count, class PlaceOf>
  __device__ void store_as(PlaceOf place, const S (&sum)[places][count]) const {
    const auto each = [&](auto f) {
#pragma unroll
      for (int v = 0; v < places; ++v)
#pragma unroll
        for (int e = 0; e < count; ++e) f(v, e);
    };
    S r[places][count], residual[places][count];
    each([&](int v, int e) { r[v][e] = alpha * sum[v][e]; });
    if (beta != S{0})
      for_result([&](auto zero) {
        Neighbours<decltype(zero), count> old[places];
        read<whole>(c, ldc, place, old);
        each([&](int v, int e) { r[v][e] = std::fma(beta, widened(old[v].element[e]), r[v][e]); });
      });
    if (epilogue.bias_per != BiasPer::None)
      for_result([&](auto zero) {
        Neighbours<decltype(zero), count> bias[places];
        read_bias<whole>(place, bias);
        each([&](int v, int e) { r[v][e] += widened(bias[v].element[e]); });
      });
    const bool has_residual = epilogue.residual != nullptr;
    if (has_residual)
      for_result([&](auto zero) {
        Neighbours<decltype(zero), count> more[places];
        read<whole>(epilogue.residual, epilogue.ld_residual, place, more);
        each([&](int v, int e) { residual[v][e] = widened(more[v].element[e]); });
      });
    if (epilogue.activation == Activation::Relu) each([&](int v, int e) { r[v][e] = relu(r[v][e]); });
    if (epilogue.activation == Activation::Gelu) each([&](int v, int e) { r[v][e] = gelu(r[v][e]); });
    if (has_residual) each([&](int v, int e) { r[v][e] += residual[v][e]; });
    for_result([&](auto zero) {
      using R = decltype(zero);
#pragma unroll
      for (int v = 0; v < places; ++v) {
        const ResultPlace at = place(v);
        R* const to = static_cast<R*>(c) + at.row * ldc + at.col;
        Neighbours<R, count> here;
#pragma unroll
        for (int e = 0; e < count; ++e) here.element[e] = rounded<R>(r[v][e]);
        if constexpr (whole) {
          *reinterpret_cast<Neighbours<R, count>*>(to) = here;
        } else {
#pragma unroll
          for (int e = 0; e < count; ++e)
            if (at.col + e < n) to[e] = here.element[e];
        }
      }
    });
  }

  /// Calls f(R{}), where R is the type of C.
  template <class F>
  __device__ void for_result(F f) const {
    if constexpr (std::is_same_v<S, double>) {
      f(double{});
    } else {
      if (result == DType::F32) return f(float{});
      if (result == DType::F16) return f(__half{});
      f(__nv_bfloat16{});
    }
  }
  template <class R>
  static __device__ S widened(R x) {
    if constexpr (std::is_same_v<R, S>)
      return x;
    else
      return Rounding<R>::value(x);
  }
  template <class R>
  static __device__ R rounded(S x) {
    if constexpr (std::is_same_v<R, S>)
      return x;
    else
      return Rounding<R>::round(x);
  }

  template <bool whole, class R, int places, int count, class PlaceOf>
  __device__ void read(const void* matrix, Index ld, PlaceOf place, Neighbours<R, count> (&x)[places]) const {
#pragma unroll
    for (int v = 0; v < places; ++v) {
      const ResultPlace at = place(v);
      read_neighbours(whole, static_cast<const R*>(matrix) + at.row * ld + at.col, 1, at, x[v]);
    }
  }
  template <bool whole, class R, int places, int count, class PlaceOf>
  __device__ void read_bias(PlaceOf place, Neighbours<R, count> (&x)[places]) const {
    const auto* const from = static_cast<const R*>(epilogue.bias);
#pragma unroll
    for (int v = 0; v < places; ++v)
      if (const ResultPlace at = place(v); epilogue.bias_per == BiasPer::Column) {
        read_neighbours(whole && bias_vectors, from + at.col * epilogue.bias_step, epilogue.bias_step, at, x[v]);
      } else {
        const R one = from[at.row * epilogue.bias_step];
#pragma unroll
        for (int e = 0; e < count; ++e) x[v].element[e] = one;
      }
  }
  template <class R, int count>
  __device__ void read_neighbours(bool at_once, const R* from, Index step, const ResultPlace& at,
                                  Neighbours<R, count>& x) const {
    if (at_once) {
      x = *reinterpret_cast<const Neighbours<R, count>*>(from);
      return;
    }
    x = {};
#pragma unroll
    for (int e = 0; e < count; ++e)
      if (at.col + e < n) x.element[e] = from[e * step];
  }
};

} // namespace tessera::cuda
