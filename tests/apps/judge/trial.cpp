#include "trial.hpp"

#include <cmath>

#include <fmt/format.h>
#include <boost/test/unit_test.hpp>

#include <tessera/half.hpp>
#include <tessera/random.hpp>

#include "gemm_judge/elements.hpp"

namespace tessera::judge::testing {
namespace {

/// Everything but the operands and the check.
JudgeRequest request_of(const Case& test, const KernelFile& file) {
  JudgeRequest request;
  request.kernel = &file;
  request.abi = test.abi;
  request.call.type = test.type;
  request.call.op_a = test.op_a;
  request.call.op_b = test.op_b;
  request.call.m = test.m;
  request.call.n = test.n;
  request.call.k = test.k;
  request.call.alpha = test.alpha;
  request.call.beta = test.beta;
  request.call.threads = test.threads;
  request.repeat = test.repeat;
  request.time_limit = test.time_limit;
  request.memory_limit = test.memory_limit;
  request.without_layers = test.without_layers;
  if (test.peak > 0) request.peak = [peak = test.peak](bool) { return peak; };
  request.program = JUDGE_PROGRAM;
  return request;
}

template <class T>
JudgeVerdict try_with(const Case& test) {
  constexpr bool is_16_bit = sizeof(T) == 2;
  const Index pad = test.abi == Abi::Leetgpu ? 0 : 3; // also of Python files
  const bool ta = test.op_a == Op::Transpose;
  const bool tb = test.op_b == Op::Transpose;
  const Index lda = (ta ? test.m : test.k) + pad;
  const Index ldb = (tb ? test.k : test.n) + pad;
  const Index ldc = test.n + pad;
  const auto random = [](Index rows, Index ld, std::uint64_t seed) {
    std::vector<T> x(static_cast<std::size_t>(rows * ld));
    for (std::size_t e = 0; e < x.size(); ++e) x[e] = random_element<T>(Distribution::Uniform, seed, e, T(-1), T(1));
    return x;
  };
  const std::vector<T> a = random(ta ? test.k : test.m, lda, 1);
  const std::vector<T> b = random(tb ? test.n : test.k, ldb, 2);
  std::vector<T> c = random(test.m, ldc, 3);

  const KernelFile file(kernel_path(test.kernel), {}, {});
  JudgeRequest request = request_of(test, file);
  request.call.a = a.data();
  request.call.lda = lda;
  request.call.b = b.data();
  request.call.ldb = ldb;
  request.call.c = c.data();
  request.call.ldc = ldc;
  request.check = [&](const void* result) -> std::string {
    const GemmOperands<T> x(request.call);
    for (Index i = 0; i < x.m; ++i)
      for (Index j = 0; j < x.n; ++j) {
        double sum = 0;
        for (Index p = 0; p < x.k; ++p) sum += static_cast<double>(x.at_a(i, p)) * static_cast<double>(x.at_b(p, j));
        sum = test.alpha * sum + (test.beta == 0 ? 0 : test.beta * static_cast<double>(x.c[i * ldc + j]));
        const double got = static_cast<double>(static_cast<const T*>(result)[i * ldc + j]);
        const double rounding = is_16_bit ? std::ldexp(std::abs(sum), -element_type(test.type).digits) : 0.0;
        if (!(std::abs(got - sum) <= test.tolerance * static_cast<double>(x.k) + rounding))
          return fmt::format("C({}, {}) is {:g}, not {:g}", i, j, got, sum);
      }
    return {};
  };
  return judge(request);
}

/// Judges without data.
JudgeVerdict try_int8(const Case& test) {
  const Index pad = test.abi == Abi::Leetgpu ? 0 : 3;
  const KernelFile file(kernel_path(test.kernel), {}, {});
  JudgeRequest request = request_of(test, file);
  request.call.type = DType::I8;
  request.call.lda = (test.op_a == Op::Transpose ? test.m : test.k) + pad;
  request.call.ldb = (test.op_b == Op::Transpose ? test.k : test.n) + pad;
  request.call.ldc = test.n + pad;
  return judge(request);
}

} // namespace

std::string kernel_path(const std::string& kernel) {
  if (kernel.starts_with("/")) return kernel;
  if (kernel.ends_with(".py")) return std::string(SOURCE_FOLDER) + "/" + kernel;
  return std::string(KERNEL_FOLDER) + "/" + kernel + ".so";
}

JudgeVerdict try_kernel(const Case& test) {
  JudgeVerdict verdict =
      test.type == DType::I8 ? try_int8(test) : with_element(test.type, [&]<class T>(T) { return try_with<T>(test); });
  BOOST_TEST_MESSAGE(fmt::format("{}: {}{}{}", test.kernel,
                                 verdict.outcome == Outcome::Judged ? to_string(verdict.offence) : "not judged",
                                 verdict.why.empty() ? "" : ": ", verdict.why));
  return verdict;
}

} // namespace tessera::judge::testing
