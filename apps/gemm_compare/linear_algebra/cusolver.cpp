#include "system_library.hpp"

#include <vector>

namespace tessera::compare_app {
namespace {

/// The functions of an operation: the factorisation, and what solves with its factors, if the operation does.
struct Routines {
  std::string factor, working_memory, solve;
};

Routines routines_of(SystemKind kind, DType type) {
  const std::string prefix = std::string("cusolverDn") + (type == DType::F32 ? "S" : "D");
  const auto named = [&](const char* factor, const char* solve) {
    return Routines{prefix + factor, prefix + factor + "_bufferSize", *solve != 0 ? prefix + solve : ""};
  };
  switch (kind) {
    case SystemKind::Potrf:
      return named("potrf", "");
    case SystemKind::Posv:
      return named("potrf", "potrs");
    case SystemKind::Getrf:
      return named("getrf", "");
    case SystemKind::Gesv:
      return named("getrf", "getrs");
    case SystemKind::Geqrf:
      return named("geqrf", "");
    default:
      return {};
  }
}

template <class T>
class CusolverRun final : public SystemRun<T> {
 public:
  CusolverRun(DeviceLibrary& library, SystemKind kind, const SystemData<T>& data, SystemWork<T>& work,
              Executor& executor)
      : kind_(kind),
        n_(static_cast<int>(data.n)),
        count_(static_cast<int>(data.count)),
        work_(work),
        executor_(executor),
        routines_(routines_of(kind, dtype_of<T>)),
        factor_(library.function<void()>(routines_.factor)),
        solve_(solves() ? library.function<void()>(routines_.solve) : nullptr),
        a_(executor, work.a),
        b_(executor, solves() ? work.b : std::vector<T>()),
        tau_(executor, kind == SystemKind::Geqrf ? work.tau.size() : 0),
        pivots_(executor, exchanges_rows() ? work.pivots.size() : 0),
        info_(executor, std::vector<int>(solves() ? 2 : 1, unwritten)),
        handle_(library.handle(executor)),
        elements_(size_of_memory(library)),
        memory_(executor, static_cast<std::size_t>(elements_)) {
    throw_if_failed(executor.default_queue().synchronize());
  }

  void compute() override {
    switch (kind_) {
      case SystemKind::Potrf:
      case SystemKind::Posv:
        factor(handle_, vendor::lower, n_, a_.data(), n_, memory_.data(), elements_, info_.data());
        if (solves()) solve(handle_, vendor::lower, n_, count_, constant(a_), n_, b_.data(), n_, info_.data() + 1);
        break;
      case SystemKind::Getrf:
      case SystemKind::Gesv:
        factor(handle_, n_, n_, a_.data(), n_, memory_.data(), pivots_.data(), info_.data());
        if (solves())
          solve(handle_, vendor::as_it_is, n_, count_, constant(a_), n_, constant(pivots_), b_.data(), n_,
                info_.data() + 1);
        break;
      default:
        factor(handle_, n_, n_, a_.data(), n_, tau_.data(), memory_.data(), elements_, info_.data());
    }
    throw_if_failed(executor_.default_queue().synchronize());
  }

  void fetch() override {
    std::vector<int> info;
    info_.fetch(info);
    for (std::size_t step = 0; step < info.size(); ++step)
      if (info[step] != 0)
        throw Error(StatusCode::Internal,
                    fmt::format("{}: info = {}", step == 0 ? routines_.factor : routines_.solve, info[step]));
    a_.fetch(work_.a);
    if (solves()) b_.fetch(work_.b);
    if (kind_ == SystemKind::Geqrf) tau_.fetch(work_.tau);
    if (exchanges_rows()) fetch_pivots();
  }

 private:
  static constexpr int unwritten = -999;

  bool solves() const { return !routines_.solve.empty(); }
  bool exchanges_rows() const { return kind_ == SystemKind::Getrf || kind_ == SystemKind::Gesv; }

  template <class X>
  static const X* constant(const DeviceElements<X>& elements) {
    return elements.data();
  }
  /// Call the two functions with arguments of just the types that their declarations have.
  template <class... Arguments>
  void factor(Arguments... arguments) const {
    expect_success(routines_.factor, reinterpret_cast<int (*)(Arguments...)>(factor_)(arguments...));
  }
  template <class... Arguments>
  void solve(Arguments... arguments) const {
    expect_success(routines_.solve, reinterpret_cast<int (*)(Arguments...)>(solve_)(arguments...));
  }

  int size_of_memory(DeviceLibrary& library) const {
    const std::string& name = routines_.working_memory;
    const int first = kind_ == SystemKind::Potrf || kind_ == SystemKind::Posv ? vendor::lower : n_;
    int elements = 0;
    expect_success(name, library.function<int(void*, int, int, T*, int, int*)>(name)(handle_, first, n_, a_.data(), n_,
                                                                                     &elements));
    if (elements < 0) throw Error(StatusCode::Internal, fmt::format("{}: {} elements", name, elements));
    return elements;
  }

  /// Fortran's numbers count from 1.
  void fetch_pivots() {
    std::vector<int> numbers;
    pivots_.fetch(numbers);
    for (std::size_t j = 0; j < numbers.size(); ++j) {
      if (numbers[j] < 1 || numbers[j] > n_)
        throw Error(StatusCode::Internal,
                    fmt::format("{}: pivot {} is row {} of {}", routines_.factor, j + 1, numbers[j], n_));
      work_.pivots[j] = numbers[j] - 1;
    }
  }

  const SystemKind kind_;
  const int n_, count_;
  SystemWork<T>& work_;
  Executor& executor_;
  const Routines routines_;
  void (*const factor_)();
  void (*const solve_)();
  const DeviceElements<T> a_, b_, tau_;
  const DeviceElements<int> pivots_, info_;
  void* const handle_;
  const int elements_;
  const DeviceElements<T> memory_;
};

class Cusolver final : public SystemLibrary {
 public:
  Cusolver()
      : SystemLibrary({{"cuSOLVER", "TESSERA_CUSOLVER", "libcusolver", 12, "nvidia-cusolver"},
                       "cusolverDnCreate",
                       "cusolverDnDestroy",
                       "cusolverDnSetStream"}) {}

  std::unique_ptr<SystemRun<float>> prepare(SystemKind kind, const SystemData<float>& data, SystemWork<float>& work,
                                            Executor& executor) override {
    return std::make_unique<CusolverRun<float>>(library(), kind, data, work, executor);
  }
  std::unique_ptr<SystemRun<double>> prepare(SystemKind kind, const SystemData<double>& data, SystemWork<double>& work,
                                             Executor& executor) override {
    return std::make_unique<CusolverRun<double>>(library(), kind, data, work, executor);
  }

 private:
  std::vector<std::string> functions_of(SystemKind kind, DType type) const override {
    const Routines routines = routines_of(kind, type);
    if (routines.factor.empty()) return {};
    std::vector<std::string> functions{routines.factor, routines.working_memory};
    if (!routines.solve.empty()) functions.push_back(routines.solve);
    return functions;
  }
};

} // namespace

std::shared_ptr<SystemLibrary> cusolver() { return std::make_shared<Cusolver>(); }

} // namespace tessera::compare_app
