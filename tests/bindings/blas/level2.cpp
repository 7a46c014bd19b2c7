/// Level 2 of the drop-in: every result has the bits of a plain model that is written from docs/contract.md, in both
/// interfaces and both layouts; what a routine does not name stays unread and untouched. Exit status: failed checks.

#include <cstdlib>
#include <new>

#include "level2_model.hpp"

namespace {
bool memory_is_short = false;
} // namespace

// The library's memory for the sums of a symmetric product.
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  const auto line = static_cast<std::size_t>(alignment);
  return memory_is_short ? nullptr : std::aligned_alloc(line, (size + line - 1) / line * line);
}
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace tessera::test {
namespace {

enum { upper = 121, lower = 122, non_unit = 131, unit = 132 };
const char* const letters = "NTC";
const Index steps[] = {1, 1, 2, -1, -3};

/// One random call: sizes, steps and factors.
template <class N>
struct Case {
  Random& random;
  Index m, n, below, above, step_x, step_y;
  N alpha, beta;
  const blas_int rows = integer(m), cols = integer(n), kl = integer(below), ku = integer(above);
  const blas_int incx = integer(step_x), incy = integer(step_y);

  Layout dense(bool by_rows, Index under, Index over) const {
    return {Storage::Dense, by_rows, m, n, under, over, (by_rows ? n : m) + 3};
  }
  Layout band(bool by_rows, Index under, Index over) const {
    return {Storage::Band, by_rows, m, n, under, over, under + over + 1 + 2};
  }
  Layout packed(bool by_rows, Index under, Index over) const {
    return {Storage::Packed, by_rows, m, n, under, over, 0};
  }
};

/// op(A), of what is stored.
template <class N>
Elements<N> apply(int op, const Stored<N>& a) {
  const auto& at = a;
  if (op == no_trans)
    return {[&at](Index i, Index k) { return at.layout.has(i, k); }, [&at](Index i, Index k) { return at.at(i, k); }};
  const bool conjugates = op == conj_trans;
  return {[&at](Index i, Index k) { return at.layout.has(k, i); },
          [&at, conjugates](Index i, Index k) { return conjugated_if(conjugates, at.at(k, i)); }};
}

template <class N>
void general_products(const Case<N>& c) {
  using B = Level2<N>;
  for (int op = no_trans; op <= conj_trans; ++op)
    for (const bool is_band : {false, true}) {
      const auto layout = [&](bool by_rows) {
        return is_band ? c.band(by_rows, c.below, c.above) : c.dense(by_rows, c.m, c.n);
      };
      const Stored<N> a(c.random, layout(false)), by_rows(a, layout(true), c.random);
      const Index rows = op == no_trans ? c.m : c.n, cols = op == no_trans ? c.n : c.m;
      const Spread<N> x(c.random, cols, c.step_x), before(c.random, rows, c.step_y);
      Spread<N> expected(before), y(before), z(before), w(before);
      model_product(apply(op, a), c.alpha, x, c.beta, expected);
      const blas_int ld = integer(a.layout.ld), ld_rows = integer(by_rows.layout.ld);
      const char* const letter = letters + (op - no_trans);
      const N *const p = a.values.data(), *const q = by_rows.values.data();
      if (is_band) {
        B::gbmv(letter, &c.rows, &c.cols, &c.kl, &c.ku, &c.alpha, p, &ld, x.data(), &c.incx, &c.beta, y.data(),
                &c.incy);
        B::cblas_gbmv(col_major, op, c.rows, c.cols, c.kl, c.ku, by_value(c.alpha), p, ld, x.data(), c.incx,
                      by_value(c.beta), z.data(), c.incy);
        B::cblas_gbmv(row_major, op, c.rows, c.cols, c.kl, c.ku, by_value(c.alpha), q, ld_rows, x.data(), c.incx,
                      by_value(c.beta), w.data(), c.incy);
      } else {
        B::gemv(letter, &c.rows, &c.cols, &c.alpha, p, &ld, x.data(), &c.incx, &c.beta, y.data(), &c.incy);
        B::cblas_gemv(col_major, op, c.rows, c.cols, by_value(c.alpha), p, ld, x.data(), c.incx, by_value(c.beta),
                      z.data(), c.incy);
        B::cblas_gemv(row_major, op, c.rows, c.cols, by_value(c.alpha), q, ld_rows, x.data(), c.incx, by_value(c.beta),
                      w.data(), c.incy);
      }
      expected.must_equal(is_band ? "gbmv" : "gemv", y);
      expected.must_equal(is_band ? "cblas_gbmv by columns" : "cblas_gemv by columns", z);
      expected.must_equal(is_band ? "cblas_gbmv by rows" : "cblas_gemv by rows", w);
    }
}

/// The layout of a triangle in one of three forms.
template <class N>
Layout triangle(const Case<N>& c, Storage storage, bool is_lower, bool by_rows) {
  const bool is_band = storage == Storage::Band;
  const Index wide = is_band ? c.below : c.m, under = is_lower ? wide : 0, over = is_lower ? 0 : wide;
  if (is_band) return c.band(by_rows, under, over);
  return storage == Storage::Dense ? c.dense(by_rows, under, over) : c.packed(by_rows, under, over);
}

template <class N>
void symmetric_products(const Case<N>& c) {
  using B = Level2<N>;
  for (const Storage storage : {Storage::Dense, Storage::Band, Storage::Packed})
    for (const bool is_lower : {false, true}) {
      const Stored<N> a(c.random, triangle(c, storage, is_lower, false));
      const Stored<N> by_rows(a, triangle(c, storage, is_lower, true), c.random);
      const Spread<N> x(c.random, c.m, c.step_x), before(c.random, c.m, c.step_y);
      Spread<N> expected(before), y(before), z(before), w(before);
      const Elements<N> whole{[&](Index i, Index k) { return a.layout.has(i, k) || a.layout.has(k, i); },
                              [&](Index i, Index k) {
                                if (i == k) {
                                  N x_ii = a.at(i, i);
                                  if (is_complex<N>) part_of(x_ii, parts<N> - 1) = 0;
                                  return is_complex<N> ? x_ii : a.at(i, i);
                                }
                                return a.layout.has(i, k) ? a.at(i, k) : conjugated_if(true, a.at(k, i));
                              }};
      model_product(whole, c.alpha, x, c.beta, expected);
      const char* const letter = is_lower ? "L" : "U";
      const int uplo = is_lower ? lower : upper;
      const blas_int ld = integer(a.layout.ld), ld_rows = integer(by_rows.layout.ld);
      const N *const p = a.values.data(), *const q = by_rows.values.data();
      const auto alpha = by_value(c.alpha), beta = by_value(c.beta);
      if (storage == Storage::Dense) {
        B::symv(letter, &c.rows, &c.alpha, p, &ld, x.data(), &c.incx, &c.beta, y.data(), &c.incy);
        B::cblas_symv(col_major, uplo, c.rows, alpha, p, ld, x.data(), c.incx, beta, z.data(), c.incy);
        B::cblas_symv(row_major, uplo, c.rows, alpha, q, ld_rows, x.data(), c.incx, beta, w.data(), c.incy);
      } else if (storage == Storage::Band) {
        B::sbmv(letter, &c.rows, &c.kl, &c.alpha, p, &ld, x.data(), &c.incx, &c.beta, y.data(), &c.incy);
        B::cblas_sbmv(col_major, uplo, c.rows, c.kl, alpha, p, ld, x.data(), c.incx, beta, z.data(), c.incy);
        B::cblas_sbmv(row_major, uplo, c.rows, c.kl, alpha, q, ld_rows, x.data(), c.incx, beta, w.data(), c.incy);
      } else {
        B::spmv(letter, &c.rows, &c.alpha, p, x.data(), &c.incx, &c.beta, y.data(), &c.incy);
        B::cblas_spmv(col_major, uplo, c.rows, alpha, p, x.data(), c.incx, beta, z.data(), c.incy);
        B::cblas_spmv(row_major, uplo, c.rows, alpha, q, x.data(), c.incx, beta, w.data(), c.incy);
      }
      expected.must_equal("symv, sbmv or spmv", y);
      expected.must_equal("symv, sbmv or spmv of CBLAS by columns", z);
      expected.must_equal("symv, sbmv or spmv of CBLAS by rows", w);
    }
}

template <class N>
void triangles(const Case<N>& c) {
  using B = Level2<N>;
  for (int variant = 0; variant < 3 * 2 * 3 * 2 * 2; ++variant) {
    if (c.m > 200 && c.random.below(12) != 0) continue; // large ones take long
    const auto storage = static_cast<Storage>(variant % 3);
    const bool is_lower = variant / 3 % 2 != 0, is_unit = variant / 18 % 2 != 0, solves = variant / 36 != 0;
    const int op = no_trans + variant / 6 % 3;
    Stored<N> a(c.random, triangle(c, storage, is_lower, false));
    for (Index i = 0; i < c.m; ++i)
      for (Index j = 0; j < c.m; ++j)
        if (a.layout.has(i, j) && (i != j || is_unit))
          a.at(i, j) = model_scaled(c.random.template factor<N>(0), a.at(i, j));
    const Stored<N> by_rows(a, triangle(c, storage, is_lower, true), c.random);
    const Spread<N> before(c.random, c.m, c.step_x);
    Spread<N> expected(before), y(before), z(before), w(before);
    Elements<N> t = apply(op, a);
    if (is_unit)
      t.at = [one_of = t.at](Index i, Index k) {
        N one{};
        part_of(one, 0) = 1;
        return i == k ? one : one_of(i, k);
      };
    N one{};
    part_of(one, 0) = 1;
    if (solves)
      model_solve(t, is_lower == (op == no_trans), is_unit, expected);
    else
      model_product(t, one, before, N{}, expected);
    const char *const uplo_letter = is_lower ? "L" : "U", *const diag_letter = is_unit ? "U" : "N";
    const char* const op_letter = letters + (op - no_trans);
    const int uplo = is_lower ? lower : upper, diag = is_unit ? unit : non_unit;
    const blas_int ld = integer(a.layout.ld), ld_rows = integer(by_rows.layout.ld);
    const N *const p = a.values.data(), *const q = by_rows.values.data();
    if (storage == Storage::Dense) {
      (solves ? B::trsv : B::trmv)(uplo_letter, op_letter, diag_letter, &c.rows, p, &ld, y.data(), &c.incx);
      (solves ? B::cblas_trsv : B::cblas_trmv)(col_major, uplo, op, diag, c.rows, p, ld, z.data(), c.incx);
      (solves ? B::cblas_trsv : B::cblas_trmv)(row_major, uplo, op, diag, c.rows, q, ld_rows, w.data(), c.incx);
    } else if (storage == Storage::Band) {
      (solves ? B::tbsv : B::tbmv)(uplo_letter, op_letter, diag_letter, &c.rows, &c.kl, p, &ld, y.data(), &c.incx);
      (solves ? B::cblas_tbsv : B::cblas_tbmv)(col_major, uplo, op, diag, c.rows, c.kl, p, ld, z.data(), c.incx);
      (solves ? B::cblas_tbsv : B::cblas_tbmv)(row_major, uplo, op, diag, c.rows, c.kl, q, ld_rows, w.data(), c.incx);
    } else {
      (solves ? B::tpsv : B::tpmv)(uplo_letter, op_letter, diag_letter, &c.rows, p, y.data(), &c.incx);
      (solves ? B::cblas_tpsv : B::cblas_tpmv)(col_major, uplo, op, diag, c.rows, p, z.data(), c.incx);
      (solves ? B::cblas_tpsv : B::cblas_tpmv)(row_major, uplo, op, diag, c.rows, q, w.data(), c.incx);
    }
    expected.must_equal(solves ? "trsv, tbsv or tpsv" : "trmv, tbmv or tpmv", y);
    expected.must_equal(solves ? "cblas_t?sv by columns" : "cblas_t?mv by columns", z);
    expected.must_equal(solves ? "cblas_t?sv by rows" : "cblas_t?mv by rows", w);
  }
}

template <class N>
void general_updates(const Case<N>& c) {
  using B = Level2<N>;
  for (const bool conjugates : {false, true}) {
    const Spread<N> x(c.random, c.m, c.step_x), y(c.random, c.n, c.step_y);
    Stored<N> a(c.random, c.dense(false, c.m, c.n)), by_rows(a, c.dense(true, c.m, c.n), c.random);
    Stored<N> p(a), q(a), r(by_rows);
    for (Index i = 0; i < c.m && !is_zero(c.alpha); ++i)
      for (Index j = 0; j < c.n; ++j)
        a.at(i, j) = by_rows.at(i, j) =
            model_update(a.at(i, j), c.alpha, x.at(i), conjugated_if(conjugates, y.at(j)), false);
    const blas_int ld = integer(a.layout.ld), ld_rows = integer(by_rows.layout.ld);
    (conjugates ? B::gerc : B::geru)(&c.rows, &c.cols, &c.alpha, x.data(), &c.incx, y.data(), &c.incy, p.values.data(),
                                     &ld);
    const auto cblas = conjugates ? B::cblas_gerc : B::cblas_geru;
    cblas(col_major, c.rows, c.cols, by_value(c.alpha), x.data(), c.incx, y.data(), c.incy, q.values.data(), ld);
    cblas(row_major, c.rows, c.cols, by_value(c.alpha), x.data(), c.incx, y.data(), c.incy, r.values.data(), ld_rows);
    a.must_equal("ger", p);
    a.must_equal("cblas_ger by columns", q);
    by_rows.must_equal("cblas_ger by rows", r);
  }
}

template <class N>
void symmetric_updates(const Case<N>& c) {
  using B = Level2<N>;
  using R = RealOf<N>;
  for (int variant = 0; variant < 8; ++variant) {
    const bool is_lower = variant % 2 != 0, is_packed = variant / 2 % 2 != 0, is_second = variant / 4 != 0;
    const Storage storage = is_packed ? Storage::Packed : Storage::Dense;
    const Spread<N> x(c.random, c.m, c.step_x), y(c.random, c.m, c.step_y);
    Stored<N> a(c.random, triangle(c, storage, is_lower, false));
    Stored<N> by_rows(a, triangle(c, storage, is_lower, true), c.random), p(a), q(a), r(by_rows);
    const R real = part_of(c.alpha, 0);
    N factor = c.alpha;
    if (!is_second && is_complex<N>) part_of(factor, parts<N> - 1) = 0;
    for (Index i = 0; i < c.m && !is_zero(factor); ++i)
      for (Index j = 0; j < c.m; ++j) {
        if (!a.layout.has(i, j)) continue;
        N& to = a.at(i, j);
        to = model_update(to, factor, x.at(i), conjugated_if(true, (is_second ? y : x).at(j)), !is_lower);
        if (is_second)
          to = model_update(to, conjugated_if(true, factor), y.at(i), conjugated_if(true, x.at(j)), !is_lower);
        if (is_complex<N> && i == j) part_of(to, parts<N> - 1) = 0;
        by_rows.at(i, j) = to;
      }
    const char* const letter = is_lower ? "L" : "U";
    const int uplo = is_lower ? lower : upper;
    const blas_int ld = integer(a.layout.ld), ld_rows = integer(by_rows.layout.ld), n = c.rows;
    const auto alpha = by_value(c.alpha);
    N *const s = p.values.data(), *const t = q.values.data(), *const u = r.values.data();
    if (is_second && is_packed) {
      B::spr2(letter, &n, &c.alpha, x.data(), &c.incx, y.data(), &c.incy, s);
      B::cblas_spr2(col_major, uplo, n, alpha, x.data(), c.incx, y.data(), c.incy, t);
      B::cblas_spr2(row_major, uplo, n, alpha, x.data(), c.incx, y.data(), c.incy, u);
    } else if (is_second) {
      B::syr2(letter, &n, &c.alpha, x.data(), &c.incx, y.data(), &c.incy, s, &ld);
      B::cblas_syr2(col_major, uplo, n, alpha, x.data(), c.incx, y.data(), c.incy, t, ld);
      B::cblas_syr2(row_major, uplo, n, alpha, x.data(), c.incx, y.data(), c.incy, u, ld_rows);
    } else if (is_packed) {
      B::spr(letter, &n, &real, x.data(), &c.incx, s);
      B::cblas_spr(col_major, uplo, n, real, x.data(), c.incx, t);
      B::cblas_spr(row_major, uplo, n, real, x.data(), c.incx, u);
    } else {
      B::syr(letter, &n, &real, x.data(), &c.incx, s, &ld);
      B::cblas_syr(col_major, uplo, n, real, x.data(), c.incx, t, ld);
      B::cblas_syr(row_major, uplo, n, real, x.data(), c.incx, u, ld_rows);
    }
    a.must_equal("syr, spr, syr2 or spr2", p);
    a.must_equal("syr, spr, syr2 or spr2 of CBLAS by columns", q);
    by_rows.must_equal("syr, spr, syr2 or spr2 of CBLAS by rows", r);
  }
}

template <class N>
void check_type() {
  Random random(23);
  const auto check = [&](Index m, Index n, Index below, Index above, int round) {
    random.choose_specials(0);
    const N alpha = random.factor<N>(round % 7 == 0 ? 2 : round % 3), beta = random.factor<N>((round / 3) % 3);
    random.choose_specials(round % 3);
    const Index step_x = steps[random.below(5)], step_y = steps[random.below(5)];
    general_products(Case<N>{random, m, n, below, above, step_x, step_y, alpha, beta});
    general_updates(Case<N>{random, m, n, below, above, step_x, step_y, alpha, beta});
    const Case<N> square{random, m, m, below, above, step_x, step_y, alpha, beta};
    symmetric_products(square);
    symmetric_updates(square);
    triangles(square);
  };
  for (int round = 0; round < 30; ++round)
    check(1 + random.below(round < 20 ? 12 : 50), 1 + random.below(round < 20 ? 12 : 50), random.below(9),
          random.below(40), round);
  int round = 0;
  for (const Index n : {16, 33, 65, 97}) // blocks on the diagonal and vectors, whole and cut
    check(n, n + 1, 7, n, round++);
  check(300, 290, 3, 280, 1);
  check(segment<N> + 40, segment<N> + 90, segment<N> / 2, 20, 2); // several segments
  memory_is_short = true;
  random.choose_specials(0);
  const Index n = segment<N> + 40;
  symmetric_products(Case<N>{random, n, n, 300, 0, 1, -2, random.factor<N>(0), random.factor<N>(0)});
  memory_is_short = false;
}

} // namespace
} // namespace tessera::test

int main() {
  using namespace tessera;
  test::check_type<float>();
  test::check_type<double>();
  test::check_type<ComplexNumber<float>>();
  test::check_type<ComplexNumber<double>>();
  test::must_equal("calls that were refused", position, 0);
  return test::failures_of_program() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
