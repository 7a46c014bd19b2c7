#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "charts.hpp"
#include "panels.hpp"
#include "plot.hpp"
#include "report/format.hpp"
#include "report/grades.hpp"
#include "report/html.hpp"

namespace tessera::report {
namespace {

std::string_view css_of(const GradeClass& one) {
  const std::string backend = one.backend();
  return backend.empty() ? "b-several" : backend_class(backend);
}

/// The sizes at which the error is not zero, because a logarithmic axis has no zero.
std::vector<Point> points_of(const GradeClass& one) {
  std::vector<Point> points;
  for (const Grade::Size& size : one.shown.sizes)
    if (size.error > 0) points.push_back({size.n, size.error});
  return points;
}

/// What the chart writes beside a line. All kernels of a class have one mode.
std::string name_of(const GradeClass& one, const Run& run) {
  const std::string first = run.label_with_mode(one.kernels.front()->kernel);
  return one.kernels.size() == 1 ? first : fmt::format("{} and {} more", first, one.kernels.size() - 1);
}

/// Writes names beside the plot and moves them apart where they would touch.
void label_ends(Plot& plot, const Run& run, std::vector<const GradeClass*> classes) {
  std::sort(classes.begin(), classes.end(),
            [](const GradeClass* a, const GradeClass* b) { return points_of(*a).back().y > points_of(*b).back().y; });
  std::vector<double> wanted;
  wanted.reserve(classes.size());
  for (const GradeClass* one : classes) wanted.push_back(plot.y().at(points_of(*one).back().y));
  const double x = plot.size().width - plot.size().right;
  const std::vector<double> places = spread_out(wanted, label_gap, 24, plot.size().height - 30);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const std::string_view css = css_of(*classes[i]);
    plot.leader({plot.x().at(points_of(*classes[i]).back().x) + 4, wanted[i]}, {x + 10, places[i]}, css);
    plot.text({x + 13, places[i] + 4}, fmt::format("name {}", css), name_of(*classes[i], run), "start");
  }
}

std::string grade_chart(const std::string& type, const std::vector<const GradeClass*>& classes, const Run& run,
                        double width) {
  std::set<double> sizes;
  std::vector<double> errors;
  std::size_t longest = 0;
  for (const GradeClass* one : classes) {
    for (const Point& point : points_of(*one)) {
      sizes.insert(point.x);
      errors.push_back(point.y);
    }
    longest = std::max(longest, name_of(*one, run).size());
  }
  Axis x(Axis::Kind::Log, {sizes.begin(), sizes.end()}, "m = n = k");
  if (sizes.size() <= 8) x.set_ticks({sizes.begin(), sizes.end()});
  Axis y(Axis::Kind::Log, errors, "max |Δ| / (|A||B|) in u");
  const double right = 20 + 6.2 * static_cast<double>(std::min<std::size_t>(longest, 30));
  Plot plot(x, y, {std::max(width, 260 + right), chart_height(width, classes.size()), right},
            "Error over size, " + type);
  for (const GradeClass* one : classes) {
    const std::string title =
        fmt::format("{}: grade {}, slope {}", one->names(run), one->shown.grade, number_text(one->shown.slope));
    const std::vector<Point> points = points_of(*one);
    plot.line(points, css_of(*one), title);
    for (const Point& point : points)
      plot.mark(point, css_of(*one), point.y,
                fmt::format("{}, n = {:.0f}: {} u", name_of(*one, run), point.x, number_text(point.y)), false);
  }
  label_ends(plot, run, classes);
  return plot.finish();
}

/// The kernels of a class; a long list is folded until the reader opens it.
std::string names_cell(const GradeClass& one, const Run& run) {
  const std::string names = escaped(one.names(run));
  if (one.kernels.size() <= 4) return names;
  return fmt::format("<details><summary>{}</summary>{}</details>", escaped(one.short_name(run)), names);
}

std::string line(const GradeClass& one, const Run& run) {
  const Grade& grade = one.shown;
  std::string errors;
  for (const Grade::Size& size : grade.sizes)
    errors += fmt::format("{}<span>{:.0f}: {}</span>", errors.empty() ? "" : " ", size.n, number_text(size.error));
  return fmt::format(
      "<tr><th scope=\"row\" class=\"{}\">{}</th><td>{}</td><td>{}</td><td>{}</td><td class=\"names\">{}</td>"
      "<td class=\"names\">{}</td></tr>\n",
      grade.grade == "A" ? "good" : "bad", escaped(grade.grade), escaped(grade.kernel.dtype),
      escaped(grade.kernel.math), number_text(grade.slope), names_cell(one, run), errors);
}

} // namespace

std::string grades_section(const Run& run) {
  const std::vector<GradeClass> classes = grade_classes(run);
  if (classes.empty()) return {};
  std::vector<Panel> panels;
  std::string lines;
  for (auto first = classes.begin(); first != classes.end();) {
    const std::string type = first->shown.kernel.dtype;
    std::vector<const GradeClass*> same_type;
    for (; first != classes.end() && first->shown.kernel.dtype == type; ++first) same_type.push_back(&*first);
    std::erase_if(same_type, [](const GradeClass* one) { return points_of(*one).empty(); });
    if (same_type.empty()) continue; // the data were whole numbers, without any error
    panels.push_back({escaped(type),
                      [&run, type, same_type](double width) { return grade_chart(type, same_type, run, width); }, ""});
  }
  for (const GradeClass& one : classes) lines += line(one, run);
  return "<section id=\"grades\">\n<h2>How the error grows</h2>\n<p class=\"lead\">Largest error ÷ (|A||B|) over the "
         "size "
         "of square products, in units of the type's roundoff u. Grade A: it grows no faster than n, as that of any "
         "order of summation must; B and C keep only the weaker bounds by the norms of rows and columns, or of whole "
         "matrices. Kernels with the same errors at every size are one line, without a colour if several backends have "
         "it.</p>\n" +
         (panels.empty() ? "" : laid_out(panels)) +
         "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Grades\"><table class=\"plain\">\n"
         "<thead><tr><th scope=\"col\">grade</th><th scope=\"col\">type</th><th scope=\"col\">math</th>"
         "<th scope=\"col\">slope</th><th scope=\"col\">kernels</th><th scope=\"col\">n: error in u</th></tr></thead>\n"
         "<tbody>\n" +
         lines + "</tbody></table></div>\n</section>\n";
}

} // namespace tessera::report
