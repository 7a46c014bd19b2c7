/// Certificates of solutions in the C interface.

#include <tessera/linear_algebra/tessera_linear_algebra.h>

#include <string>

#include <tessera/checking/check_solve.hpp>

#include "c_api.hpp"
#include "core/base/cut_text.hpp"

using namespace tessera;
using namespace tessera::c_api;

namespace {

/// The caller's words for a check of a solution.
struct SolutionWords {
  tessera_checked_type type_a, type_x, type_b;
  bool is_complex;
  int64_t n, count;
  const void* a;
  int64_t lda;
  const void* x;
  int64_t ldx;
  const void* b;
  int64_t ldb;
  tessera_nearness nearness;
  double limit;
  int threads;
};

tessera_status check_solution(const SolutionWords& words, tessera_solve_certificate* certificate) {
  return guarded([&] {
    if (certificate == nullptr)
      throw InvalidArgument("certificate is null; pass the address of a tessera_solve_certificate");
    if (certificate->size != sizeof(tessera_solve_certificate))
      throw InvalidArgument("certificate.size = " + std::to_string(certificate->size) + ", but this library's is " +
                            std::to_string(sizeof(tessera_solve_certificate)) + "; set it before the call");
    const auto matrix = [&](tessera_checked_type type, int64_t cols, const void* data, int64_t ld) {
      return CheckedMatrix{.type = tessera::checked_type(static_cast<CheckedType>(type)).type,
                           .data = data,
                           .rows = words.n,
                           .cols = cols,
                           .ld = ld,
                           .is_complex = words.is_complex};
    };
    const SolveCertificate answer = check_solve(matrix(words.type_a, words.n, words.a, words.lda),
                                                matrix(words.type_x, words.count, words.x, words.ldx),
                                                matrix(words.type_b, words.count, words.b, words.ldb),
                                                {.nearness = c_api::checked(words.nearness, Nearness::Norm, "nearness"),
                                                 .limit = words.limit,
                                                 .threads = words.threads});
    certificate->verdict = static_cast<tessera_verdict>(answer.verdict);
    certificate->limit = answer.limit;
    certificate->by_elements_least = answer.by_elements.least;
    certificate->by_elements_most = answer.by_elements.most;
    certificate->by_norm_least = answer.by_norm.least;
    certificate->by_norm_most = answer.by_norm.most;
    certificate->row = answer.row;
    certificate->col = answer.col;
    certificate->residual = answer.residual;
    certificate->scale = answer.scale;
    certificate->unjudged = answer.unjudged;
    cut_text(to_text(answer).c_str(), certificate->text);
  });
}

} // namespace

tessera_status tessera_check_solve(tessera_checked_type type_a, tessera_checked_type type_x,
                                   tessera_checked_type type_b, int64_t n, int64_t count, const void* a, int64_t lda,
                                   const void* x, int64_t ldx, const void* b, int64_t ldb, tessera_nearness nearness,
                                   double limit, int threads, tessera_solve_certificate* certificate) {
  return check_solution({type_a, type_x, type_b, false, n, count, a, lda, x, ldx, b, ldb, nearness, limit, threads},
                        certificate);
}
tessera_status tessera_check_solve_complex(tessera_checked_type type_a, tessera_checked_type type_x,
                                           tessera_checked_type type_b, int64_t n, int64_t count, const void* a,
                                           int64_t lda, const void* x, int64_t ldx, const void* b, int64_t ldb,
                                           tessera_nearness nearness, double limit, int threads,
                                           tessera_solve_certificate* certificate) {
  return check_solution({type_a, type_x, type_b, true, n, count, a, lda, x, ldx, b, ldb, nearness, limit, threads},
                        certificate);
}
