#include "cublas.hpp"

#include <array>

namespace tessera::compare_app::cublas {
namespace {

// cublasFillMode_t, cublasOperation_t, cublasSideMode_t and cublasDiagType_t
constexpr int lower = 0, as_it_is = 0, transposed = 1, left = 0, stored_diagonal = 0;

std::string routine_of(SystemKind kind, DType type) {
  return fmt::format("cublas{}{}_v2", type == DType::F32 ? 'S' : 'D', kind == SystemKind::Syrk ? "syrk" : "trsm");
}

template <class T>
class Run final : public SystemRun<T> {
 public:
  Run(DeviceLibrary& library, SystemKind kind, const SystemData<T>& data, SystemWork<T>& work, Executor& executor)
      : is_product_(kind == SystemKind::Syrk),
        n_(static_cast<int>(data.n)),
        count_(static_cast<int>(data.count)),
        work_(work),
        executor_(executor),
        name_(routine_of(kind, dtype_of<T>)),
        function_(library.function<void()>(name_)),
        a_(executor, is_product_ ? data.a : work.a),
        result_(executor, is_product_ ? work.a : work.b),
        handle_(library.handle(executor)) {
    throw_if_failed(executor.default_queue().synchronize());
  }

  void compute() override {
    const T one = 1, zero = 0;
    if (is_product_) // A by rows is Aᵀ by columns.
      call<int(void*, int, int, int, int, const T*, const T*, int, const T*, T*, int)>(
          handle_, lower, transposed, n_, n_, &one, a_.data(), n_, &zero, result_.data(), n_);
    else
      call<int(void*, int, int, int, int, int, int, const T*, const T*, int, T*, int)>(
          handle_, left, lower, as_it_is, stored_diagonal, n_, count_, &one, a_.data(), n_, result_.data(), n_);
    throw_if_failed(executor_.default_queue().synchronize());
  }

  void fetch() override { result_.fetch(is_product_ ? work_.a : work_.b); }

 private:
  template <class Function, class... Arguments>
  void call(Arguments... arguments) const {
    expect_success(name_, reinterpret_cast<Function*>(function_)(arguments...));
  }

  const bool is_product_;
  const int n_, count_;
  SystemWork<T>& work_;
  Executor& executor_;
  const std::string name_;
  void (*const function_)();
  const DeviceElements<T> a_, result_;
  void* const handle_;
};

} // namespace

std::shared_ptr<DeviceLibrary> library() {
  return std::make_shared<DeviceLibrary>(DeviceLibrary::Names{
      {"cuBLAS", "TESSERA_CUBLAS", "libcublas"},
      "cublasCreate_v2",
      "cublasDestroy_v2",
      "cublasSetStream_v2",
  });
}

bool does(SystemKind kind) { return kind == SystemKind::Syrk || kind == SystemKind::Trsm; }

std::string problem_of(DeviceLibrary& library, SystemKind kind, DType type) {
  return library.problem_with(std::array{routine_of(kind, type)});
}

template <detail::Real T>
std::unique_ptr<SystemRun<T>> prepare(DeviceLibrary& library, SystemKind kind, const SystemData<T>& data,
                                      SystemWork<T>& work, Executor& executor) {
  return std::make_unique<Run<T>>(library, kind, data, work, executor);
}

template std::unique_ptr<SystemRun<float>> prepare(DeviceLibrary&, SystemKind, const SystemData<float>&,
                                                   SystemWork<float>&, Executor&);
template std::unique_ptr<SystemRun<double>> prepare(DeviceLibrary&, SystemKind, const SystemData<double>&,
                                                    SystemWork<double>&, Executor&);

} // namespace tessera::compare_app::cublas
