#include "gemm_kernels.hpp"

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>

#include <boost/test/unit_test.hpp>

#include <tessera/performance/tuning.hpp>

#include "half_kernels.hpp"
#include "problem.hpp"
#include "support/test_all.hpp"

namespace tessera::conformance {
namespace {

namespace ut = boost::unit_test;

/// Returns the cases that all kernels share, with their operands and expected results. They are made once.
template <class T>
std::vector<std::unique_ptr<Problem<T>>>& shared_problems() {
  static auto problems = [] {
    std::vector<std::unique_ptr<Problem<T>>> made;
    for (const Case& x : shared_cases(options().quick, options().every))
      made.push_back(std::make_unique<Problem<T>>(x));
    return made;
  }();
  return problems;
}

/// The outcome of one kernel over all its cases.
struct Tally {
  int run = 0;
  int failed = 0;
  std::map<std::string, int> rejections; ///< reasons, and how often each was given
};

/// Counts one product: `wrong` says what is wrong with it, `rejection` why the kernel does not take it.
void count(const GemmKernel& kernel, const Case& x, const std::string& wrong,
           const std::optional<std::string>& rejection, Tally& tally) {
  constexpr int shown = 5;
  if (rejection) {
    // The call's sizes stand between the backend and the reason.
    const std::size_t reason = rejection->find("; ");
    ++tally.rejections[reason == std::string::npos ? *rejection : rejection->substr(reason + 2)];
  } else {
    ++tally.run;
  }
  if (wrong.empty()) return;
  if (++tally.failed <= shown) BOOST_ERROR(kernel.name << ", " << x << ": " << wrong);
}

template <class T>
void check(Problem<T>& problem, const GemmKernel& kernel, bool by_name, Tally& tally) {
  if (!problem.concerns(kernel)) return;
  std::optional<std::string> rejection;
  const std::string wrong = problem.check(kernel, by_name, rejection);
  count(kernel, problem.parameters(), wrong, rejection, tally);
}

void conclude(const GemmKernel& kernel, const Tally& tally);

/// Returns n where every n-th case is kept. Kernels with the bits of matrix units get fewer cases, because the model
/// takes long to say what the bits are, above all where the executor chooses the kernel, which is then checked a second
/// time. A host's kernels get a fifth or a seventh of all cases; these numbers are prime to the two to four turns of
/// the loops that make the cases.
std::size_t thinning(const GemmKernel& kernel, bool by_name) {
  if (kernel.summation != Summation::HopperUnits) return 1;
  const auto products = static_cast<std::size_t>(products_of_model(kernel));
  if (!by_name) return 7 * products;
  const bool fewer = subject().capabilities().host_memory && options().every == 1 && !test::everything_is_tested();
  if (fewer && !options().quick) return products == 1 ? 5 : 7;
  if (is_16_bit(kernel.type)) return 2; // two types of results
  return fewer ? std::max(products, std::size_t{3}) : products;
}

/// Returns the first case that is kept. Modes begin at different cases, so that together they have more of them.
std::size_t first_case(const GemmKernel& kernel, std::size_t step) {
  return static_cast<std::size_t>(kernel.math) % step;
}

template <class T>
void check_kernel(const GemmKernel& kernel, bool by_name) {
  Tally tally;
  const std::size_t step = thinning(kernel, by_name);
  auto& problems = shared_problems<T>();
  for (std::size_t i = first_case(kernel, step); i < problems.size(); i += step)
    check(*problems[i], kernel, by_name, tally);
  for (const Case& x : tile_cases(kernel.tile, options().quick, step * options().every)) {
    Problem<T> problem(x);
    check(problem, kernel, by_name, tally);
  }
  conclude(kernel, tally);
}

void check_half_kernel(const GemmKernel& kernel, bool by_name) {
  for (const DType result : {kernel.type, DType::F32}) {
    Tally tally;
    for (const Case& x : half_cases(kernel.tile, options().quick, thinning(kernel, by_name) * options().every)) {
      if (x.values == Values::Subnormal && kernel.math != Math::Strict && !has_contract(kernel.summation))
        continue; // Problem::concerns does so for the other types
      std::optional<std::string> rejection;
      const std::string wrong = check_half(kernel, by_name, result, x, rejection);
      count(kernel, x, wrong, rejection, tally);
    }
    conclude(kernel, tally);
  }
}

void conclude(const GemmKernel& kernel, const Tally& tally) {
  BOOST_TEST(tally.failed == 0, kernel.name << ": " << tally.failed << " of " << tally.run << " products are wrong");
  for (const auto& [reason, times] : tally.rejections) {
    std::cout << to_string(kernel.type) << ' ' << to_string(kernel.math) << ' ' << kernel.name << " rejected " << times
              << " of " << times + tally.run << " cases: " << reason << '\n';
    BOOST_TEST(!reason.empty(), kernel.name << " rejects without a reason");
  }
  // A host's kernel takes every shape, or none if the machine lacks what the kernel needs. A device's kernel may depend
  // on what the device has.
  const bool lacking = tally.run == 0 && tally.rejections.size() == 1;
  if (subject().capabilities().host_memory && !lacking)
    BOOST_TEST(tally.rejections.empty(), kernel.name << " does not take every shape");
  else
    BOOST_TEST(tally.run + static_cast<int>(tally.rejections.size()) > 0);
}

ut::test_suite& suite(ut::test_suite& parent, const std::string& name) {
  static std::map<std::pair<ut::test_suite*, std::string>, ut::test_suite*> made;
  ut::test_suite*& found = made[{&parent, name}];
  if (found == nullptr) {
    found = new ut::test_suite(name, __FILE__, __LINE__);
    parent.add(found);
  }
  return *found;
}

void add(ut::test_suite& parent, const GemmKernel& kernel, bool by_name) {
  const auto body = [kernel, by_name] {
    is_16_bit(kernel.type)      ? check_half_kernel(kernel, by_name)
    : kernel.type == DType::F64 ? check_kernel<double>(kernel, by_name)
                                : check_kernel<float>(kernel, by_name);
  };
  ut::test_suite& group =
      suite(suite(parent, std::string(to_string(kernel.type))), std::string(to_string(kernel.math)));
  group.add(ut::make_test_case(body, by_name ? kernel.name : "chosen_by_the_executor", __FILE__, __LINE__));
}

} // namespace

void add_gemm_kernels(ut::test_suite& root) {
  ut::test_suite& gemm = suite(root, "gemm");
  for (const GemmKernel& kernel : subject().gemm_kernels()) add(gemm, kernel, true);
  // Without a name, a strict product keeps the contract, whatever kernel runs.
  for (const DType type : {DType::F32, DType::F64, DType::F16, DType::BF16}) {
    GemmKernel any;
    any.name = "(any)";
    any.type = type;
    any.summation = Summation::Canonical;
    add(gemm, any, false);
  }
  // A product in a mode that has a contract of its own keeps it too, where the executor may choose a kernel that does.
  const auto kernels = subject().gemm_kernels();
  std::set<std::pair<DType, Math>> added;
  for (const GemmKernel& kernel : kernels) {
    if (!has_contract_of_mode(kernel.summation) || !keeps_contract(kernel, kernels, subject().capabilities()) ||
        !added.insert({kernel.type, kernel.math}).second)
      continue;
    GemmKernel any;
    any.name = "(any)";
    any.type = kernel.type;
    any.math = kernel.math;
    any.summation = kernel.summation;
    any.accumulator = kernel.accumulator;
    add(gemm, any, false);
  }
}

} // namespace tessera::conformance
