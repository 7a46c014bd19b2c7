#include "entry.hpp"

#include <dlfcn.h>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/backend/kernel_abi.h>

#include "gemm_judge/elements.hpp"

namespace tessera::judge {
namespace {

/// solve() of the leetgpu ABI, in whose letters A is M×N, B is N×K and C is M×K. Pointers to all types are passed
/// alike.
using Solve = void (*)(const void* a, const void* b, void* c, int m, int n, int k);

class LeetgpuEntry final : public Entry {
 public:
  explicit LeetgpuEntry(Solve solve) : solve_(solve) {}
  int run(const GemmCall& call, void*) const override {
    solve_(call.a, call.b, call.c, static_cast<int>(call.m), static_cast<int>(call.k), static_cast<int>(call.n));
    return 0;
  }

 private:
  Solve solve_;
};

class TesseraEntry final : public Entry {
 public:
  using Run = int (*)(const tessera_kernel_call*);
  using Reject = const char* (*)(const tessera_kernel_call*);
  TesseraEntry(Run run_function, Reject reject_function) : run_(run_function), reject_(reject_function) {}

  const char* reject(const GemmCall& call) const override {
    if (reject_ == nullptr) return nullptr;
    const tessera_kernel_call theirs = translate(call, nullptr);
    return reject_(&theirs);
  }
  int run(const GemmCall& call, void* stream) const override {
    const tessera_kernel_call theirs = translate(call, stream);
    return run_(&theirs);
  }

 private:
  static tessera_kernel_call translate(const GemmCall& call, void* stream) {
    tessera_kernel_call theirs{};
    theirs.struct_size = sizeof theirs;
    theirs.abi_version = TESSERA_KERNEL_ABI_VERSION;
    theirs.type = element_type(call.type).kernel;
    theirs.trans_a = call.op_a == Op::Transpose;
    theirs.trans_b = call.op_b == Op::Transpose;
    theirs.threads = call.threads;
    theirs.m = call.m;
    theirs.n = call.n;
    theirs.k = call.k;
    theirs.alpha = call.alpha;
    theirs.a = call.a;
    theirs.lda = call.lda;
    theirs.b = call.b;
    theirs.ldb = call.ldb;
    theirs.beta = call.beta;
    theirs.c = call.c;
    theirs.ldc = call.ldc;
    theirs.stream = stream;
    return theirs;
  }

  Run run_;
  Reject reject_;
};

/// Enumerators of cblas.h. Its versions differ, but these numbers are equal in all of them.
enum : int { cblas_row_major = 101, cblas_no_trans = 111, cblas_trans = 112 };

template <class T>
class CblasEntry final : public Entry {
 public:
  using Gemm = void (*)(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*, int);
  explicit CblasEntry(Gemm gemm) : gemm_(gemm) {}
  int run(const GemmCall& call, void*) const override {
    const GemmOperands<T> x(call);
    const auto narrow = [](Index value) { return static_cast<int>(value); };
    gemm_(cblas_row_major, x.op_a == Op::None ? cblas_no_trans : cblas_trans,
          x.op_b == Op::None ? cblas_no_trans : cblas_trans, narrow(x.m), narrow(x.n), narrow(x.k), x.alpha, x.a,
          narrow(x.lda), x.b, narrow(x.ldb), x.beta, x.c, narrow(x.ldc));
    return 0;
  }

 private:
  Gemm gemm_;
};

/// A function that an interface asks for, and the word of --abi for the interface.
struct KnownFunction {
  std::string name;
  const char* abi;
};
std::vector<KnownFunction> known_functions() {
  std::vector<KnownFunction> all;
  for (const ElementType& type : known_types)
    if (is_judged(type.type)) all.push_back({leetgpu_function(type.type), "leetgpu"});
  for (const KnownFunction& other :
       {KnownFunction{"tessera_kernel", "tessera"}, {"cblas_sgemm", "cblas"}, {"cblas_dgemm", "cblas"}})
    all.push_back(other);
  return all;
}

/// Returns the first function of another interface than `abi` that the file itself, not a library that it needs,
/// exports; none if there is none.
std::optional<KnownFunction> function_of_another_abi(void* library, const std::string& path, std::string_view abi) {
  for (const KnownFunction& known : known_functions()) {
    Dl_info found{};
    const void* const function = abi == known.abi ? nullptr : dlsym(library, known.name.c_str());
    if (function != nullptr && dladdr(function, &found) != 0 && path == found.dli_fname) return known;
  }
  return {};
}

/// Finds a function of the interface `abi`. Where it is missing, the reply says so, and under which --abi the file is a
/// kernel.
template <class Function>
Function find(void* library, const std::string& path, const char* abi, const char* name, Reply& reply) {
  const auto function = reinterpret_cast<Function>(dlsym(library, name));
  if (function != nullptr) return function;
  reply.kind = ReplyKind::MissingSymbol;
  if (const std::optional<KnownFunction> other = function_of_another_abi(library, path, abi))
    std::snprintf(reply.text, sizeof reply.text, "it exports %s, and --abi %s asks for %s; use --abi %s",
                  other->name.c_str(), abi, name, other->abi);
  else
    std::snprintf(reply.text, sizeof reply.text, "it does not export %s; is extern \"C\" missing?", name);
  return nullptr;
}

} // namespace

std::unique_ptr<Entry> open_entry(const std::string& path, Abi abi, DType type, Reply& reply) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    reply.kind = ReplyKind::CannotLoad;
    std::snprintf(reply.text, sizeof reply.text, "%s", dlerror());
    return nullptr;
  }
  if (abi == Abi::Leetgpu) {
    const std::string name = leetgpu_function(type);
    const auto solve = find<Solve>(library, path, "leetgpu", name.c_str(), reply);
    if (solve == nullptr && type != DType::F32 && !function_of_another_abi(library, path, "leetgpu")) {
      // A kernel for other types is not at fault.
      reply.kind = ReplyKind::Rejected;
      std::snprintf(reply.text, sizeof reply.text, "it does not export %s, as leetgpu kernels of this type do",
                    name.c_str());
    }
    return solve ? std::make_unique<LeetgpuEntry>(solve) : nullptr;
  }
  if (abi == Abi::Tessera) {
    const auto run = find<TesseraEntry::Run>(library, path, "tessera", "tessera_kernel", reply);
    const auto reject = reinterpret_cast<TesseraEntry::Reject>(dlsym(library, "tessera_kernel_reject"));
    return run ? std::make_unique<TesseraEntry>(run, reject) : nullptr;
  }
  if (type == DType::F64) {
    const auto gemm = find<CblasEntry<double>::Gemm>(library, path, "cblas", "cblas_dgemm", reply);
    return gemm ? std::make_unique<CblasEntry<double>>(gemm) : nullptr;
  }
  const auto gemm = find<CblasEntry<float>::Gemm>(library, path, "cblas", "cblas_sgemm", reply);
  return gemm ? std::make_unique<CblasEntry<float>>(gemm) : nullptr;
}

} // namespace tessera::judge
