#include "grades.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include <tessera/detail/printable.hpp>

#include "common/terminal.hpp"
#include "reporters/reporter.hpp"

namespace tessera::compare_app {
namespace {

bool is_graded(const Result& result) {
  const bool narrow = result.math == Math::Tf32 || result.math == Math::Bf16 || result.math == Math::Fp16 ||
                      result.math == Math::ScaledFp16;
  return result.error && result.operation == Operation::Gemm && !narrow && result.square() && result.n > 0;
}

bool same_kernel(const Result& x, const Result& y) {
  return backend_name(x) == backend_name(y) && x.kernel == y.kernel && x.type == y.type && x.math == y.math &&
         x.threads == y.threads;
}

class GradeReporter final : public Reporter {
 public:
  explicit GradeReporter(const Options& options) : width_(table_width(options)) {}

  void add_group(const std::vector<Result>& group) override { book_.add(group); }

  void finish() override {
    const std::vector<GradedKernel> grades = book_.grades();
    if (grades.empty()) return;
    const bool colour = apps::shows_colour(stdout);
    const std::string title = "How the error grows with n: slope of max |Δ|/(|A||B|) in units of u, and grade";
    fmt::print("\n{}\n", apps::styled(apps::wrapped(title, width_, 2), apps::Style::Bold, colour));
    std::vector<std::string> names;
    std::size_t width = 0;
    for (const GradedKernel& kernel : grades) {
      const Result& r = kernel.last;
      names.push_back(detail::printable(fmt::format("{} {} {}{}{}", backend_name(r), r.kernel, to_string(r.type),
                                                    r.math == Math::Strict ? "" : fmt::format(" {}", to_string(r.math)),
                                                    r.threads > 0 ? fmt::format(", {} threads", r.threads) : "")));
      width = std::max(width, apps::display_width(names.back()));
    }
    for (std::size_t g = 0; g < grades.size(); ++g) {
      std::string errors;
      for (const SizeErrors& size : grades[g].sizes)
        errors += fmt::format("  {:.3g} at {}", size.componentwise, size.n);
      const std::string line =
          fmt::format("{}  {}  slope {:5.2f} {}", apps::pad_right(names[g], width),
                      apps::pad_right(fmt::format("grade {}", to_string(grades[g].grading.grade)), 10),
                      grades[g].grading.slope, errors);
      fmt::print("{}\n", apps::wrapped(line, width_, width + 2));
    }
    apps::flush_stdout();
  }

 private:
  const std::size_t width_; ///< 0: no limit
  GradeBook book_;
};

} // namespace

void GradeBook::add(const std::vector<Result>& group) {
  for (const Result& result : group) {
    if (!is_graded(result)) continue;
    auto at = std::find_if(kernels_.begin(), kernels_.end(),
                           [&](const GradedKernel& kernel) { return same_kernel(kernel.last, result); });
    if (at == kernels_.end()) at = kernels_.insert(at, GradedKernel{});
    at->last = result;
    at->sizes.push_back(SizeErrors::of(result.n, *result.error));
  }
}

std::vector<GradedKernel> GradeBook::grades() const {
  std::vector<GradedKernel> graded;
  for (GradedKernel kernel : kernels_) {
    std::vector<Index> sizes;
    for (const SizeErrors& size : kernel.sizes)
      if (std::find(sizes.begin(), sizes.end(), size.n) == sizes.end()) sizes.push_back(size.n);
    if (sizes.size() < least_sizes) continue;
    kernel.grading = grade_growth(kernel.sizes);
    graded.push_back(std::move(kernel));
  }
  return graded;
}

std::unique_ptr<Reporter> grade_reporter(const Options& options) { return std::make_unique<GradeReporter>(options); }

} // namespace tessera::compare_app
