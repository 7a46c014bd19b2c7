#include "ways.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include <fmt/format.h>

#include <tessera/backend/environment.hpp>
#include <tessera/linear_algebra/cholesky.hpp>
#include <tessera/linear_algebra/lu.hpp>
#include <tessera/linear_algebra/qr.hpp>
#include <tessera/linear_algebra/syrk.hpp>
#include <tessera/status.hpp>

#include "device_way.hpp"
#include "foreign_lapack.hpp"
#include "textbook/textbook.hpp"

namespace tessera::compare_app {
namespace {

/// The library's functions on the memory of a run.
template <class T>
class OwnWay {
 public:
  OwnWay(const SystemData<T>& data, SystemWork<T>& work, const SolveOptions& options)
      : n_(data.n), data_(data), work_(work), options_(options) {}

  void run(SystemKind kind) {
    switch (kind) {
      case SystemKind::Syrk:
        return syrk(Triangle::Lower, Op::None, n_, n_, T(1), data_.a.data(), n_, T(0), work_.a.data(), n_, options_);
      case SystemKind::Herk:
        if constexpr (is_complex<T>)
          herk(Triangle::Lower, Op::None, n_, n_, 1, data_.a.data(), n_, 0, work_.a.data(), n_, options_);
        return;
      case SystemKind::Trsm:
        return solve(Triangle::Lower, Op::None, Diagonal::Stored);
      case SystemKind::Potrf:
        return factor_positive();
      case SystemKind::Getrf:
        return factor();
      case SystemKind::Geqrf:
        return detail::factor_qr(detail::number_type_of<T>, Op::None, n_, n_, work_.a.data(), n_, work_.tau.data(),
                                 options_);
      case SystemKind::Posv:
        factor_positive();
        solve(Triangle::Lower, Op::None, Diagonal::Stored);
        return solve(Triangle::Lower, is_complex<T> ? Op::ConjugateTranspose : Op::Transpose, Diagonal::Stored);
      case SystemKind::Gesv:
        factor();
        permute();
        solve(Triangle::Lower, Op::None, Diagonal::Unit);
        return solve(Triangle::Upper, Op::None, Diagonal::Stored);
    }
  }

 private:
  void factor_positive() {
    if (const Index done =
            detail::factor_cholesky(detail::number_type_of<T>, Triangle::Lower, n_, work_.a.data(), n_, options_);
        done < n_)
      throw NotPositiveDefinite(done + 1);
  }
  void factor() {
    detail::factor_lu(detail::number_type_of<T>, Op::None, n_, n_, work_.a.data(), n_,
                      detail::RowNumbers(work_.pivots.data()), options_);
  }
  void permute() {
    for (Index j = 0; j < n_; ++j) {
      T* const b = work_.b.data();
      const Index other = work_.pivots[static_cast<std::size_t>(j)] * data_.count;
      if (other != j * data_.count) std::swap_ranges(b + j * data_.count, b + (j + 1) * data_.count, b + other);
    }
  }
  void solve(Triangle triangle, Op op, Diagonal diagonal) {
    detail::triangular_solve(detail::TriangularCall<T>{.triangle = triangle,
                                                       .op = op,
                                                       .diagonal = diagonal,
                                                       .n = n_,
                                                       .count = data_.count,
                                                       .t = work_.a.data(),
                                                       .ldt = n_,
                                                       .b = work_.b.data(),
                                                       .ldb = data_.count},
                             options_);
  }

  const Index n_;
  const SystemData<T>& data_;
  SystemWork<T>& work_;
  const SolveOptions options_;
};

template <class T>
void run_textbook(const std::string& name, SystemKind kind, const SystemData<T>& data, SystemWork<T>& work) {
  const Index n = data.n;
  T* const a = work.a.data();
  if (kind == SystemKind::Syrk || kind == SystemKind::Herk)
    return textbook::symmetric_product(n, data.a.data(), kind == SystemKind::Herk, a);
  if (kind == SystemKind::Trsm) return textbook::substitution(n, data.count, a, work.b.data());
  if (kind == SystemKind::Potrf)
    return name == "unblocked"      ? textbook::cholesky_unblocked(n, n, a, n)
           : name == "left_looking" ? textbook::cholesky_left_looking(n, a)
                                    : textbook::cholesky_right_looking(n, a);
  if (kind == SystemKind::Geqrf) return textbook::qr_unblocked(n, a, work.tau.data());
  return name == "unblocked" ? textbook::lu_unblocked(n, 0, n, a, work.pivots.data())
                             : textbook::lu_right_looking(n, a, work.pivots.data());
}

std::vector<std::string> files_of_libraries() {
  std::vector<std::string> files;
  const char* const variable = trusted_variable("TESSERA_CBLAS");
  std::istringstream words(variable != nullptr ? variable : "");
  for (std::string file; std::getline(words, file, ':');)
    if (!file.empty()) files.push_back(file);
  return files;
}

} // namespace

std::vector<Way> ways_on(Backend backend, bool with_libraries) {
  std::vector<Way> ways;
  if (backend == Backend::Reference) {
    const auto textbook = [&](const char* name, const char* summary, bool (*does)(SystemKind)) {
      ways.push_back({.name = name, .backend = backend, .summary = summary, .does = does});
    };
    textbook("three_loops", "a row times a row",
             [](SystemKind kind) { return kind == SystemKind::Syrk || kind == SystemKind::Herk; });
    textbook("substitution", "row by row", [](SystemKind kind) { return kind == SystemKind::Trsm; });
    textbook("unblocked", "column by column", [](SystemKind kind) {
      return kind == SystemKind::Potrf || kind == SystemKind::Getrf || kind == SystemKind::Geqrf;
    });
    textbook("left_looking", "blocks take the sums over what is left of them",
             [](SystemKind kind) { return kind == SystemKind::Potrf; });
    textbook("right_looking", "blocks are subtracted from what is right of them",
             [](SystemKind kind) { return kind == SystemKind::Potrf || kind == SystemKind::Getrf; });
  }
  ways.push_back({.name = backend == Backend::Reference ? "formulas" : "blocked",
                  .backend = backend,
                  .summary = backend == Backend::Reference ? "the contract as code" : "the library",
                  .keeps_contract = true});
  if (with_libraries)
    for (const std::string& file : files_of_libraries()) {
      auto library = std::make_shared<cpu::CblasLibrary>(file);
      ways.push_back(
          {.name = "cblas:" + library->name(), .backend = backend, .summary = "its LAPACK", .library = library});
    }
  if (backend == Backend::Cuda) {
    ways.push_back(
        {.name = "cusolver", .backend = backend, .summary = "NVIDIA's LAPACK", .device_library = cusolver()});
    ways.push_back({.name = "cublas", .backend = backend, .summary = "NVIDIA's BLAS", .device_library = cublas()});
  }
  return ways;
}

std::string problem_of(const Way& way, const SystemOperation& operation, detail::NumberType type) {
  if (way.library != nullptr) return foreign::problem_of(*way.library, operation, type);
  return way.device_library != nullptr ? way.device_library->problem_of(operation.kind, type.part) : "";
}

template <class T>
std::unique_ptr<SystemRun<T>> prepare(const Way& way, const SystemOperation& operation, const SystemData<T>& data,
                                      SystemWork<T>& work, Executor& executor, int threads) {
  const SystemKind kind = operation.kind;
  const SolveOptions options{.backend = way.backend, .threads = threads};
  if constexpr (detail::Real<T>)
    if (way.device_library != nullptr) return way.device_library->prepare(kind, data, work, executor);
  if (way.keeps_contract && stays_on_device(executor, kind)) return run_on_device(kind, data, work, options, executor);
  return std::make_unique<HostRun<T>>([&, threads, kind, options] {
    if (way.library != nullptr) return foreign::run(*way.library, operation, data, work, threads);
    if (!way.keeps_contract) return run_textbook(way.name, kind, data, work);
    OwnWay<T>(data, work, options).run(kind);
  });
}

#define TESSERA_INSTANTIATE(T)                                                                             \
  template std::unique_ptr<SystemRun<T>> prepare(const Way&, const SystemOperation&, const SystemData<T>&, \
                                                 SystemWork<T>&, Executor&, int);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::compare_app
