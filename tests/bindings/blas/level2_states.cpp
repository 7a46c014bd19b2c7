/// Level 2 of the drop-in, axpy and scal in programs of any floating-point state: a subnormal alpha or beta is no zero,
/// −0 is one, and NaN is neither. Every routine gives the bits of the default state, in both interfaces and both
/// layouts, and leaves the caller's state as it was, flags too. Exit status: failed checks.

#include <cfenv>
#include <functional>
#include <iterator>
#include <string>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

#include "vectors_model.hpp"

#include "level1_names.hpp"
#include "level2_names.hpp"

namespace tessera::test {
namespace {

#ifdef __x86_64__
constexpr unsigned default_state = 0x1F80;
constexpr unsigned states[] = {0x9FC0, 0x9F80, 0x1FC0, 0x3F80}; // FTZ and DAZ, one of them, downward
unsigned state() { return _mm_getcsr(); }
void set_state(unsigned to) { _mm_setcsr(to); }
#else
constexpr unsigned default_state = FE_TONEAREST;
constexpr unsigned states[] = {FE_TOWARDZERO, FE_DOWNWARD};
unsigned state() { return static_cast<unsigned>(std::fegetround()); }
void set_state(unsigned to) { std::fesetround(static_cast<int>(to)); }
#endif

enum { upper = 121, lower = 122, non_unit = 131 };
constexpr Index size = 21, below = 3, above = 4, ld_of_band = 9;
const blas_int n = integer(size), kl = integer(below), ku = integer(above), ld = integer(size),
               ldb = integer(ld_of_band);
const blas_int one = 1;

template <class N>
struct Operands {
  std::vector<N> a, x, y;
};
template <class N>
struct Factors {
  N alpha, beta;
};

/// What a routine does to its operands, and which of its factors it reads.
template <class N>
struct Routine {
  std::string name;
  bool reads_alpha, reads_beta;
  std::function<void(Operands<N>&, const Factors<N>&)> run;
};

/// The products and updates through Fortran's interface, and through CBLAS in one layout.
template <class N>
void add_fortran(std::vector<Routine<N>>& list) {
  using B = Level2<N>;
  using O = Operands<N>;
  using F = Factors<N>;
  for (const char* op : {"N", "T", "C"}) {
    list.push_back({"gemv", true, true, [=](O& o, const F& f) {
                      B::gemv(op, &n, &n, &f.alpha, o.a.data(), &ld, o.x.data(), &one, &f.beta, o.y.data(), &one);
                    }});
    list.push_back({"gbmv", true, true, [=](O& o, const F& f) {
                      B::gbmv(op, &n, &n, &kl, &ku, &f.alpha, o.a.data(), &ldb, o.x.data(), &one, &f.beta, o.y.data(),
                              &one);
                    }});
  }
  list.push_back({"geru", true, false, [](O& o, const F& f) {
                    B::geru(&n, &n, &f.alpha, o.x.data(), &one, o.y.data(), &one, o.a.data(), &ld);
                  }});
  list.push_back({"gerc", true, false, [](O& o, const F& f) {
                    B::gerc(&n, &n, &f.alpha, o.x.data(), &one, o.y.data(), &one, o.a.data(), &ld);
                  }});
  for (const char* half : {"U", "L"}) {
    list.push_back({"symv", true, true, [=](O& o, const F& f) {
                      B::symv(half, &n, &f.alpha, o.a.data(), &ld, o.x.data(), &one, &f.beta, o.y.data(), &one);
                    }});
    list.push_back({"sbmv", true, true, [=](O& o, const F& f) {
                      B::sbmv(half, &n, &kl, &f.alpha, o.a.data(), &ldb, o.x.data(), &one, &f.beta, o.y.data(), &one);
                    }});
    list.push_back({"spmv", true, true, [=](O& o, const F& f) {
                      B::spmv(half, &n, &f.alpha, o.a.data(), o.x.data(), &one, &f.beta, o.y.data(), &one);
                    }});
    list.push_back({"syr", true, false, [=](O& o, const F& f) {
                      B::syr(half, &n, &part_of(f.alpha, 0), o.x.data(), &one, o.a.data(), &ld);
                    }});
    list.push_back({"spr", true, false,
                    [=](O& o, const F& f) { B::spr(half, &n, &part_of(f.alpha, 0), o.x.data(), &one, o.a.data()); }});
    list.push_back({"syr2", true, false, [=](O& o, const F& f) {
                      B::syr2(half, &n, &f.alpha, o.x.data(), &one, o.y.data(), &one, o.a.data(), &ld);
                    }});
    list.push_back({"spr2", true, false, [=](O& o, const F& f) {
                      B::spr2(half, &n, &f.alpha, o.x.data(), &one, o.y.data(), &one, o.a.data());
                    }});
    for (const char* op : {"N", "T", "C"}) {
      list.push_back({"trmv, tbmv, tpmv", false, false, [=](O& o, const F&) {
                        B::trmv(half, op, "N", &n, o.a.data(), &ld, o.x.data(), &one);
                        B::tbmv(half, op, "N", &n, &kl, o.a.data(), &ldb, o.y.data(), &one);
                        B::tpmv(half, op, "U", &n, o.a.data(), o.y.data(), &one);
                      }});
      list.push_back({"trsv, tbsv, tpsv", false, false, [=](O& o, const F&) {
                        B::trsv(half, op, "N", &n, o.a.data(), &ld, o.x.data(), &one);
                        B::tbsv(half, op, "N", &n, &kl, o.a.data(), &ldb, o.y.data(), &one);
                        B::tpsv(half, op, "U", &n, o.a.data(), o.y.data(), &one);
                      }});
    }
  }
  list.push_back(
      {"axpy", true, false, [](O& o, const F& f) { Blas<N>::axpy(&n, &f.alpha, o.x.data(), &one, o.y.data(), &one); }});
  list.push_back({"scal", false, false, [](O& o, const F& f) { Blas<N>::scal(&n, &f.alpha, o.x.data(), &one); }});
}

template <class N>
void add_cblas(std::vector<Routine<N>>& list, int layout) {
  using B = Level2<N>;
  using O = Operands<N>;
  using F = Factors<N>;
  const auto alpha = [](const F& f) { return by_value(f.alpha); };
  const auto beta = [](const F& f) { return by_value(f.beta); };
  for (const int op : {no_trans, trans, conj_trans}) {
    list.push_back({"cblas_gemv", true, true, [=](O& o, const F& f) {
                      B::cblas_gemv(layout, op, n, n, alpha(f), o.a.data(), ld, o.x.data(), 1, beta(f), o.y.data(), 1);
                    }});
    list.push_back({"cblas_gbmv", true, true, [=](O& o, const F& f) {
                      B::cblas_gbmv(layout, op, n, n, kl, ku, alpha(f), o.a.data(), ldb, o.x.data(), 1, beta(f),
                                    o.y.data(), 1);
                    }});
  }
  list.push_back({"cblas_geru", true, false, [=](O& o, const F& f) {
                    B::cblas_geru(layout, n, n, alpha(f), o.x.data(), 1, o.y.data(), 1, o.a.data(), ld);
                  }});
  list.push_back({"cblas_gerc", true, false, [=](O& o, const F& f) {
                    B::cblas_gerc(layout, n, n, alpha(f), o.x.data(), 1, o.y.data(), 1, o.a.data(), ld);
                  }});
  for (const int half : {upper, lower}) {
    list.push_back({"cblas_symv", true, true, [=](O& o, const F& f) {
                      B::cblas_symv(layout, half, n, alpha(f), o.a.data(), ld, o.x.data(), 1, beta(f), o.y.data(), 1);
                    }});
    list.push_back({"cblas_sbmv", true, true, [=](O& o, const F& f) {
                      B::cblas_sbmv(layout, half, n, kl, alpha(f), o.a.data(), ldb, o.x.data(), 1, beta(f), o.y.data(),
                                    1);
                    }});
    list.push_back({"cblas_spmv", true, true, [=](O& o, const F& f) {
                      B::cblas_spmv(layout, half, n, alpha(f), o.a.data(), o.x.data(), 1, beta(f), o.y.data(), 1);
                    }});
    list.push_back({"cblas_syr", true, false, [=](O& o, const F& f) {
                      B::cblas_syr(layout, half, n, part_of(f.alpha, 0), o.x.data(), 1, o.a.data(), ld);
                    }});
    list.push_back({"cblas_spr", true, false, [=](O& o, const F& f) {
                      B::cblas_spr(layout, half, n, part_of(f.alpha, 0), o.x.data(), 1, o.a.data());
                    }});
    list.push_back({"cblas_syr2", true, false, [=](O& o, const F& f) {
                      B::cblas_syr2(layout, half, n, alpha(f), o.x.data(), 1, o.y.data(), 1, o.a.data(), ld);
                    }});
    list.push_back({"cblas_spr2", true, false, [=](O& o, const F& f) {
                      B::cblas_spr2(layout, half, n, alpha(f), o.x.data(), 1, o.y.data(), 1, o.a.data());
                    }});
    for (const int op : {no_trans, trans, conj_trans})
      list.push_back({"cblas_t?mv, cblas_t?sv", false, false, [=](O& o, const F&) {
                        B::cblas_trmv(layout, half, op, non_unit, n, o.a.data(), ld, o.x.data(), 1);
                        B::cblas_tbsv(layout, half, op, non_unit, n, kl, o.a.data(), ldb, o.y.data(), 1);
                        B::cblas_tpmv(layout, half, op, non_unit, n, o.a.data(), o.y.data(), 1);
                        B::cblas_trsv(layout, half, op, non_unit, n, o.a.data(), ld, o.x.data(), 1);
                        B::cblas_tbmv(layout, half, op, non_unit, n, kl, o.a.data(), ldb, o.y.data(), 1);
                        B::cblas_tpsv(layout, half, op, non_unit, n, o.a.data(), o.y.data(), 1);
                      }});
  }
  list.push_back({"cblas_axpy", true, false,
                  [=](O& o, const F& f) { Blas<N>::cblas_axpy(n, alpha(f), o.x.data(), 1, o.y.data(), 1); }});
  list.push_back(
      {"cblas_scal", false, false, [=](O& o, const F& f) { Blas<N>::cblas_scal(n, alpha(f), o.x.data(), 1); }});
  if constexpr (is_complex<N>)
    list.push_back({"cblas_csscal or zdscal", false, false,
                    [](O& o, const F& f) { Blas<N>::cblas_real_scal(n, part_of(f.alpha, 0), o.x.data(), 1); }});
}

template <class N>
bool same(const std::vector<N>& x, const std::vector<N>& y) {
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!same_bits(x[i], y[i])) return false;
  return true;
}
template <class N>
bool same(const Operands<N>& x, const Operands<N>& y) {
  return same(x.a, y.a) && same(x.x, y.x) && same(x.y, y.y);
}

template <class N>
std::vector<N> drawn(std::mt19937& random, Index count, RealOf<N> scale) {
  std::vector<N> result(static_cast<std::size_t>(count));
  for (N& x : result)
    for (int part = 0; part < parts<N>; ++part)
      part_of(x, part) = scale * (random() % 2 == 0 ? -1 : 1) * (RealOf<N>{5} / 8 + RealOf<N>(random() % 8) / 16);
  return result;
}

/// A number with this real part, and with this imaginary part, too, where `both` parts have it.
template <class N>
N number(RealOf<N> value, bool both) {
  N x{};
  part_of(x, 0) = value;
  if (both) part_of(x, parts<N> - 1) = value;
  return x;
}

template <class N>
void check_type(const char* type) {
  using R = RealOf<N>;
  constexpr bool is_float = sizeof(R) == 4;
  const R tiny = std::ldexp(R(1), is_float ? -140 : -1060), large = std::ldexp(R(1), is_float ? 66 : 520);
  std::mt19937 random(61);
  const Operands<N> drawn_once{drawn<N>(random, size * ld_of_band + size * size, 1), drawn<N>(random, size, large),
                               drawn<N>(random, size, large)};
  std::vector<Routine<N>> list;
  add_fortran(list);
  add_cblas(list, row_major);
  add_cblas(list, col_major);
  const R nothing = std::numeric_limits<R>::quiet_NaN();
  const auto result = [&](const Routine<N>& call, const Operands<N>& from, const Factors<N>& factors, unsigned in) {
    Operands<N> operands = from;
    set_state(in);
    call.run(operands, factors);
    const unsigned after = state();
    set_state(default_state);
    if (after == in) return operands;
    std::fprintf(stderr, "%s of %s: the state was %#x before and is %#x afterwards\n", call.name.c_str(), type, in,
                 after);
    ++failures;
    return operands;
  };
  const auto must = [&](bool holds, const Routine<N>& call, const char* what, unsigned in) {
    if (holds) return;
    std::fprintf(stderr, "%s of %s under %#x: %s\n", call.name.c_str(), type, in, what);
    ++failures;
  };
  for (const Routine<N>& call : list) {
    Operands<N> given = drawn_once;
    if (call.name.find("axpy") != std::string::npos) given.y.assign(given.y.size(), N{}); // alpha·x shows
    for (const bool both : {false, true})
      for (const R alpha : {tiny, -tiny, R(0), -R(0), R(1), R(0.75), nothing})
        for (const R beta : {tiny, R(0), -R(0), R(1), R(0.75), nothing}) {
          if (!call.reads_beta && beta == beta && beta != 1) continue;
          const Factors<N> factors{number<N>(alpha, both), number<N>(beta, both)};
          const Operands<N> expected = result(call, given, factors, default_state);
          for (const unsigned in : states)
            must(same(result(call, given, factors, in), expected), call, "other bits than in the default state", in);
        }
    // What makes the checks above see a factor that is taken for 0, and 0 with a sign that is not.
    const N zero{}, minus = number<N>(-R(0), true), subnormal = number<N>(tiny, false), unit = number<N>(1, false);
    Operands<N> unread = given;
    for (const unsigned in : states) {
      if (call.reads_alpha) {
        must(!same(result(call, given, {subnormal, zero}, in), result(call, given, {zero, zero}, in)), call,
             "a subnormal alpha is taken for 0", in);
        unread.x.assign(unread.x.size(), number<N>(nothing, true));
        for (const N& factor : {zero, minus})
          must(same(result(call, unread, {factor, unit}, in), unread), call, "alpha = 0, and x is read", in);
        unread.x = given.x;
      }
      if (call.reads_beta) {
        must(!same(result(call, given, {zero, subnormal}, in), result(call, given, {zero, zero}, in)), call,
             "a subnormal beta is taken for 0", in);
        unread.y.assign(unread.y.size(), number<N>(nothing, true));
        for (const N& factor : {zero, minus})
          must(same(result(call, unread, {unit, factor}, in), result(call, given, {unit, zero}, in)), call,
               "beta = 0, and y is read", in);
        unread.y = given.y;
      }
    }
  }
}

} // namespace
} // namespace tessera::test

int main() {
  using namespace tessera;
  test::check_type<float>("f32");
  test::check_type<double>("f64");
  test::check_type<ComplexNumber<float>>("complex f32");
  test::check_type<ComplexNumber<double>>("complex f64");
  return test::failures_of_program() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
