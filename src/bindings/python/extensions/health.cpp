#include "health.hpp"

#include <nanobind/nanobind.h>

#include <string>

#include <tessera/checking/health.hpp>
#include <tessera/gemm.hpp>

#include "bindings/python/gil.hpp"
#include "bindings/python/words.hpp"

namespace nb = nanobind;

namespace tessera::python {
namespace {

nb::str text_of(const std::string& text) { return nb::str(text.data(), text.size()); }

} // namespace

PyObject* examine_machine(PyObject* seconds, PyObject* backends) {
  HealthOptions options{.seconds = parse_number(seconds, "seconds", DType::F64)};
  for (const nb::handle word : nb::borrow(backends)) options.backends.push_back(parse_backend(word.ptr()));
  HealthReport report;
  std::string text;
  {
    const WithoutGil others_run;
    report = health(options);
    text = to_text(report);
  }
  nb::list findings, gaps, tested, cores;
  for (const HealthFinding& x : report.findings)
    findings.append(nb::make_tuple(text_of(x.backend), text_of(x.device), x.core, x.at_once, text_of(x.test),
                                   text_of(x.kernel), x.row, x.col, text_of(x.found), text_of(x.expected), x.runs,
                                   x.wrong));
  for (const HealthGap& x : report.gaps) gaps.append(nb::make_tuple(text_of(x.backend), text_of(x.reason)));
  for (const std::string& word : report.backends) tested.append(text_of(word));
  for (const int core : report.cores) cores.append(core);
  return nb::make_tuple(findings, gaps, tested, cores, report.rounds, report.runs, report.seconds, text_of(text))
      .release()
      .ptr();
}

PyObject* counts_of_verified() {
  const VerifyCounts counts = verify_counts();
  return nb::make_tuple(counts.products, counts.wrong, counts.repaired, counts.repaired_rows, counts.repaired_elements)
      .release()
      .ptr();
}

} // namespace tessera::python
