#include "foreign_lapack.hpp"

#include <vector>

#include <fmt/format.h>

#include <tessera/status.hpp>

namespace tessera::compare_app::foreign {
namespace {

std::string symbol_of(const SystemOperation& operation, detail::NumberType type) {
  const bool is_narrow = type.part == DType::F32;
  const char* const letter = type.is_complex ? (is_narrow ? "c" : "z") : is_narrow ? "s" : "d";
  return letter + std::string(operation.name) + "_";
}

/// One call of the library. Fortran passes the lengths of letters at the end.
template <class T>
class Call {
 public:
  Call(void* function, const SystemData<T>& data, SystemWork<T>& work)
      : function_(function),
        n_(static_cast<int>(data.n)),
        count_(static_cast<int>(data.count)),
        data_(data),
        work_(work) {}

  void run(SystemKind kind) {
    switch (kind) {
      case SystemKind::Syrk:
        return syrk();
      case SystemKind::Herk:
        return herk();
      case SystemKind::Trsm:
        return trsm();
      case SystemKind::Potrf:
        return check([&](int* info) {
          call<void(const char*, const int*, T*, const int*, int*, std::size_t)>("L", &n_, a(), &n_, info, 1);
        });
      case SystemKind::Posv:
        return check([&](int* info) {
          call<void(const char*, const int*, const int*, T*, const int*, T*, const int*, int*, std::size_t)>(
              "L", &n_, &count_, a(), &n_, b(), &n_, info, 1);
        });
      case SystemKind::Getrf:
        return with_pivots([&](int* pivots, int* info) {
          call<void(const int*, const int*, T*, const int*, int*, int*)>(&n_, &n_, a(), &n_, pivots, info);
        });
      case SystemKind::Geqrf:
        return geqrf();
      case SystemKind::Gesv:
        return with_pivots([&](int* pivots, int* info) {
          call<void(const int*, const int*, T*, const int*, int*, T*, const int*, int*)>(&n_, &count_, a(), &n_, pivots,
                                                                                         b(), &n_, info);
        });
    }
  }

 private:
  T* a() { return work_.a.data(); }
  T* b() { return work_.b.data(); }

  template <class Function, class... Arguments>
  void call(Arguments... arguments) {
    reinterpret_cast<Function*>(function_)(arguments...);
  }

  template <class Body>
  static void check(const Body& body) {
    int info = 0;
    body(&info);
    if (info != 0) throw Error(StatusCode::Internal, fmt::format("info = {}", info));
  }
  template <class Body>
  void with_pivots(const Body& body) {
    std::vector<int> pivots(work_.pivots.size());
    check([&](int* info) { body(pivots.data(), info); });
    for (std::size_t j = 0; j < pivots.size(); ++j) work_.pivots[j] = pivots[j] - 1;
  }

  void geqrf() {
    const auto factor = [&](T* memory, int size) {
      check([&](int* info) {
        call<void(const int*, const int*, T*, const int*, T*, T*, const int*, int*)>(
            &n_, &n_, a(), &n_, work_.tau.data(), memory, &size, info);
      });
    };
    T best = 1;
    factor(&best, -1); // asks for the size of its working memory
    std::vector<T> memory(static_cast<std::size_t>(std::real(best)));
    factor(memory.data(), static_cast<int>(std::real(best)));
  }
  void syrk() {
    const T one = 1, zero = 0;
    // A by rows is Aᵀ by columns.
    call<void(const char*, const char*, const int*, const int*, const T*, const T*, const int*, const T*, T*,
              const int*, std::size_t, std::size_t)>("L", "T", &n_, &n_, &one, data_.a.data(), &n_, &zero, a(), &n_, 1,
                                                     1);
  }
  /// Aᵀ by columns times its conjugate from the left is the conjugate of A·Aᴴ, whose upper triangle by columns is the
  /// lower one of A·Aᴴ by rows.
  void herk() {
    const Part<T> one = 1, zero = 0;
    call<void(const char*, const char*, const int*, const int*, const Part<T>*, const T*, const int*, const Part<T>*,
              T*, const int*, std::size_t, std::size_t)>("U", "C", &n_, &n_, &one, data_.a.data(), &n_, &zero, a(), &n_,
                                                         1, 1);
    work_.by_columns = false;
  }
  void trsm() {
    const T one = 1;
    call<void(const char*, const char*, const char*, const char*, const int*, const int*, const T*, const T*,
              const int*, T*, const int*, std::size_t, std::size_t, std::size_t, std::size_t)>(
        "L", "L", "N", "N", &n_, &count_, &one, a(), &n_, b(), &n_, 1, 1, 1, 1);
  }

  void* function_;
  int n_, count_;
  const SystemData<T>& data_;
  SystemWork<T>& work_;
};

} // namespace

std::string problem_of(cpu::CblasLibrary& library, const SystemOperation& operation, detail::NumberType type) {
  if (const char* const problem = library.problem(); problem != nullptr) return problem;
  const std::string symbol = symbol_of(operation, type);
  return library.function(symbol) != nullptr ? "" : fmt::format("'{}' has no {}", library.name(), symbol);
}

template <class T>
void run(cpu::CblasLibrary& library, const SystemOperation& operation, const SystemData<T>& data, SystemWork<T>& work,
         int threads) {
  library.set_threads(threads);
  Call<T>(library.function(symbol_of(operation, detail::number_type_of<T>)), data, work).run(operation.kind);
}

template void run(cpu::CblasLibrary&, const SystemOperation&, const SystemData<float>&, SystemWork<float>&, int);
template void run(cpu::CblasLibrary&, const SystemOperation&, const SystemData<double>&, SystemWork<double>&, int);
template void run(cpu::CblasLibrary&, const SystemOperation&, const SystemData<std::complex<float>>&,
                  SystemWork<std::complex<float>>&, int);
template void run(cpu::CblasLibrary&, const SystemOperation&, const SystemData<std::complex<double>>&,
                  SystemWork<std::complex<double>>&, int);

} // namespace tessera::compare_app::foreign
