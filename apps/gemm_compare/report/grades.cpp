#include "grades.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tessera::report {
namespace {

bool same_kind(const Grade& a, const Grade& b) {
  return a.kernel.dtype == b.kernel.dtype && a.kernel.math == b.kernel.math && a.grade == b.grade;
}

/// Each size of `few` is in `many`, with the same error.
bool agrees(const Grade& few, const Grade& many) {
  return std::all_of(few.sizes.begin(), few.sizes.end(), [&](const Grade::Size& size) {
    return std::find(many.sizes.begin(), many.sizes.end(), size) != many.sizes.end();
  });
}

} // namespace

std::string GradeClass::names(const Run& run) const {
  std::vector<std::pair<std::string, std::string>> backends;
  for (const Grade* grade : kernels) {
    const std::string& backend = grade->kernel.backend;
    auto at = std::find_if(backends.begin(), backends.end(), [&](const auto& one) { return one.first == backend; });
    if (at == backends.end()) at = backends.insert(at, {backend, ""});
    at->second += (at->second.empty() ? "" : ", ") + run.label(grade->kernel);
  }
  std::string text;
  for (const auto& [backend, names] : backends)
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", backend, names);
  return text;
}

std::string GradeClass::short_name(const Run& run) const {
  const std::string first = run.label(kernels.front()->kernel);
  return kernels.size() == 1 ? first : fmt::format("{} and {} more", first, kernels.size() - 1);
}

std::string GradeClass::backend() const {
  const std::string& first = kernels.front()->kernel.backend;
  const bool one =
      std::all_of(kernels.begin(), kernels.end(), [&](const Grade* grade) { return grade->kernel.backend == first; });
  return one ? first : std::string{};
}

std::vector<GradeClass> grade_classes(const Run& run) {
  std::vector<const Grade*> most_sizes_first;
  for (const Grade& grade : run.grades) most_sizes_first.push_back(&grade);
  std::stable_sort(most_sizes_first.begin(), most_sizes_first.end(),
                   [](const Grade* a, const Grade* b) { return a->sizes.size() > b->sizes.size(); });
  std::vector<GradeClass> classes;
  for (const Grade* grade : most_sizes_first) {
    const auto at = std::find_if(classes.begin(), classes.end(), [&](const GradeClass& one) {
      return same_kind(*grade, one.shown) && agrees(*grade, one.shown);
    });
    if (at == classes.end())
      classes.push_back({*grade, {grade}});
    else
      at->kernels.push_back(grade);
  }
  for (GradeClass& one : classes)
    std::sort(one.kernels.begin(), one.kernels.end()); // the pointers point into one vector
  const auto last_error = [](const GradeClass& one) {
    return one.shown.sizes.empty() ? 0 : one.shown.sizes.back().error;
  };
  std::stable_sort(classes.begin(), classes.end(), [&](const GradeClass& a, const GradeClass& b) {
    const Entry& x = a.shown.kernel;
    const Entry& y = b.shown.kernel;
    if (x.dtype != y.dtype) return x.dtype < y.dtype;
    if (x.math != y.math) return x.math > y.math; // strict before compensated and emulated
    return last_error(a) < last_error(b);
  });
  return classes;
}

} // namespace tessera::report
