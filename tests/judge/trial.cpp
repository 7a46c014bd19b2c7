#include "trial.hpp"

#include <cmath>

#include <fmt/format.h>
#include <boost/test/unit_test.hpp>

#include <tessera/random.hpp>

namespace tessera::judge::testing {
namespace {

template <class T>
JudgeVerdict try_with(const Case& test) {
  const Index pad = test.abi == Abi::Leetgpu ? 0 : 3; // also of Python files
  const bool ta = test.op_a == Op::Transpose;
  const bool tb = test.op_b == Op::Transpose;
  const Index lda = (ta ? test.m : test.k) + pad;
  const Index ldb = (tb ? test.k : test.n) + pad;
  const Index ldc = test.n + pad;
  const auto random = [](Index rows, Index ld, std::uint64_t seed) {
    std::vector<T> x(static_cast<std::size_t>(rows * ld));
    for (std::size_t e = 0; e < x.size(); ++e) x[e] = random_element<T>(Distribution::Uniform, seed, e, T{-1}, T{1});
    return x;
  };
  const std::vector<T> a = random(ta ? test.k : test.m, lda, 1);
  const std::vector<T> b = random(tb ? test.n : test.k, ldb, 2);
  std::vector<T> c = random(test.m, ldc, 3);

  const KernelFile file(kernel_path(test.kernel), {}, {});
  JudgeRequest request;
  request.kernel = &file;
  request.abi = test.abi;
  request.call = {test.type, Math::Strict, test.op_a, test.op_b, test.m,    test.n,   test.k, test.alpha,
                  a.data(),  lda,          b.data(),  ldb,       test.beta, c.data(), ldc,    test.threads};
  request.repeat = test.repeat;
  request.time_limit = test.time_limit;
  request.memory_limit = test.memory_limit;
  request.without_layers = test.without_layers;
  if (test.peak > 0) request.peak = [&](bool) { return test.peak; };
  request.program = JUDGE_PROGRAM;
  request.check = [&](const void* result) -> std::string {
    const GemmOperands<T> x(request.call);
    for (Index i = 0; i < x.m; ++i)
      for (Index j = 0; j < x.n; ++j) {
        double sum = 0;
        for (Index p = 0; p < x.k; ++p) sum += static_cast<double>(x.at_a(i, p)) * static_cast<double>(x.at_b(p, j));
        sum = test.alpha * sum + (test.beta == 0 ? 0 : test.beta * static_cast<double>(x.c[i * ldc + j]));
        const double got = static_cast<const T*>(result)[i * ldc + j];
        if (!(std::abs(got - sum) <= test.tolerance * static_cast<double>(x.k)))
          return fmt::format("C({}, {}) is {:g}, not {:g}", i, j, got, sum);
      }
    return {};
  };
  return judge(request);
}

} // namespace

std::string kernel_path(const std::string& kernel) {
  if (kernel.ends_with(".py")) return std::string(SOURCE_FOLDER) + "/" + kernel;
  return std::string(KERNEL_FOLDER) + "/" + kernel + ".so";
}

JudgeVerdict try_kernel(const Case& test) {
  JudgeVerdict verdict = test.type == DType::F64 ? try_with<double>(test) : try_with<float>(test);
  BOOST_TEST_MESSAGE(fmt::format("{}: {}{}{}", test.kernel,
                                 verdict.outcome == Outcome::Judged ? to_string(verdict.offence) : "not judged",
                                 verdict.why.empty() ? "" : ": ", verdict.why));
  return verdict;
}

} // namespace tessera::judge::testing
