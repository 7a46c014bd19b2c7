#include "system_library.hpp"

namespace tessera::compare_app {
namespace {

std::string routine_of(SystemKind kind, DType type) {
  return fmt::format("cublas{}{}_v2", type == DType::F32 ? 'S' : 'D', kind == SystemKind::Syrk ? "syrk" : "trsm");
}

template <class T>
class CublasRun final : public SystemRun<T> {
 public:
  CublasRun(DeviceLibrary& library, SystemKind kind, const SystemData<T>& data, SystemWork<T>& work, Executor& executor)
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
          handle_, vendor::lower, vendor::transposed, n_, n_, &one, a_.data(), n_, &zero, result_.data(), n_);
    else
      call<int(void*, int, int, int, int, int, int, const T*, const T*, int, T*, int)>(
          handle_, vendor::left, vendor::lower, vendor::as_it_is, vendor::stored_diagonal, n_, count_, &one, a_.data(),
          n_, result_.data(), n_);
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

class Cublas final : public SystemLibrary {
 public:
  Cublas()
      : SystemLibrary(
            {{"cuBLAS", "TESSERA_CUBLAS", "libcublas"}, "cublasCreate_v2", "cublasDestroy_v2", "cublasSetStream_v2"}) {}

  std::unique_ptr<SystemRun<float>> prepare(SystemKind kind, const SystemData<float>& data, SystemWork<float>& work,
                                            Executor& executor) override {
    return std::make_unique<CublasRun<float>>(library(), kind, data, work, executor);
  }
  std::unique_ptr<SystemRun<double>> prepare(SystemKind kind, const SystemData<double>& data, SystemWork<double>& work,
                                             Executor& executor) override {
    return std::make_unique<CublasRun<double>>(library(), kind, data, work, executor);
  }

 private:
  std::vector<std::string> functions_of(SystemKind kind, DType type) const override {
    if (kind != SystemKind::Syrk && kind != SystemKind::Trsm) return {};
    return {routine_of(kind, type)};
  }
};

} // namespace

std::shared_ptr<SystemLibrary> cublas() { return std::make_shared<Cublas>(); }

} // namespace tessera::compare_app
