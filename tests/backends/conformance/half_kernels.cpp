#include "half_kernels.hpp"

#include "half_bound.hpp"
#include "shapes.hpp"

namespace tessera::conformance {
namespace {

/// Returns element e of operand number `which` (0 for A, 1 for B, 2 for C).
template <class T>
T half_element(Values values, int which, std::uint64_t e) {
  const auto seed = static_cast<std::uint64_t>(which) + 41;
  using Limits = std::numeric_limits<T>;
  switch (values) {
    case Values::Integers:
      return random_element<T>(Distribution::Integers, seed, e, Scalar<T>{-4}, Scalar<T>{4});
    case Values::Subnormal: // B's elements are uniform
      if (which == 1) return uniform<T>(seed, e);
      return static_cast<T>(std::ldexp(static_cast<float>(uniform<T>(seed, e)), Limits::min_exponent - 3));
    case Values::NonFinite:
      if (e % 509 == 37) return which == 1 ? static_cast<T>(-Limits::infinity()) : Limits::infinity();
      if (e % 509 == 211) return Limits::quiet_NaN();
      return uniform<T>(seed, e);
    case Values::Uniform:
      break;
  }
  return uniform<T>(seed, e);
}

/// check_half for operands of type T and a C of type R.
template <class T, class R>
std::string check_typed(const GemmKernel& kernel, bool by_name, const Case& x, std::optional<std::string>& rejection) {
  Guarded<T> a(subject(), x.op_a == Op::None ? x.m : x.k, x.op_a == Op::None ? x.k : x.m, x.a);
  Guarded<T> b(subject(), x.op_b == Op::None ? x.k : x.n, x.op_b == Op::None ? x.n : x.k, x.b);
  Guarded<R> c(subject(), x.m, x.n, x.c);
  if (x.alpha != 0) { // else A and B are not read, and stay NaN
    fill(a, [&](std::uint64_t e) { return half_element<T>(x.values, 0, e); });
    fill(b, [&](std::uint64_t e) { return half_element<T>(x.values, 1, e); });
  }
  if (x.beta != 0) fill(c, [&](std::uint64_t e) { return half_element<R>(x.values, 2, e); });
  a.upload();
  b.upload();
  c.upload();
  std::vector<R> before = compact(c);
  GemmCall call{{.type = dtype_of<T>,
                 .math = kernel.math,
                 .op_a = x.op_a,
                 .op_b = x.op_b,
                 .m = x.m,
                 .n = x.n,
                 .k = x.k,
                 .alpha = x.alpha,
                 .a = a.data(),
                 .lda = a.ld(),
                 .b = b.data(),
                 .ldb = b.ld(),
                 .beta = x.beta,
                 .c = c.data(),
                 .ldc = c.ld(),
                 .threads = x.threads},
                dtype_of<R>};
  Queue& queue = subject().default_queue();
  Status status = subject().gemm(queue, call, by_name ? kernel.name : "");
  if (status.code == StatusCode::Rejected) {
    rejection = status.why;
    return c.unchanged() ? "" : "the kernel rejects, but C has changed";
  }
  if (status.ok()) status = queue.synchronize();
  if (!status.ok()) return "failed: " + status.why;
  c.download();
  if (!c.surroundings_intact()) return "it wrote beside C: a guard band or a gap between rows has changed";
  if (!a.unchanged()) return "A has changed";
  if (!b.unchanged()) return "B has changed";

  call.a = a.host();
  call.b = b.host();
  call.c = before.data();
  call.ldc = std::max<Index>(x.n, 1);
  call.math = Math::Strict;
  std::string wrong = outside_bound(kernel, call, c.host(), c.ld(), x.values == Values::Integers);
  if (!has_contract(kernel.summation) || is_own_contract(kernel)) return wrong;
  const auto [name, math] = contract_of(kernel);
  call.math = math;
  Executor& serial = reference();
  throw_if_failed(serial.gemm(serial.default_queue(), call, name)); // C gets the bits of the contract
  if (differing(compact(c), before) != 0) wrong += "bits differ from the reference's";
  return wrong;
}

template <class T>
std::string check_results(const GemmKernel& kernel, bool by_name, DType result, const Case& x,
                          std::optional<std::string>& rejection) {
  return result == kernel.type ? check_typed<T, T>(kernel, by_name, x, rejection)
                               : check_typed<T, float>(kernel, by_name, x, rejection);
}

} // namespace

std::string check_half(const GemmKernel& kernel, bool by_name, DType result, const Case& x,
                       std::optional<std::string>& rejection) {
  return kernel.type == DType::F16 ? check_results<f16>(kernel, by_name, result, x, rejection)
                                   : check_results<bf16>(kernel, by_name, result, x, rejection);
}

std::vector<Case> half_cases(const Tile& tile, bool quick, std::size_t every) {
  std::vector<Case> cases = shared_cases(quick, 2 * every);
  for (const Case& x : tile_cases(tile, quick, every)) cases.push_back(x);
  return cases;
}

} // namespace tessera::conformance
