/// Reads the input as a report of gemm_compare --json, and makes every page from it.

#include "input_file.hpp"
#include "report/diff.hpp"
#include "report/document.hpp"
#include "report/html_report.hpp"
#include "report/markdown_report.hpp"

TESSERA_FUZZ_TARGET(report) {
  using namespace tessera::report;
  const tessera::fuzz::InputFile file(data, size);
  try {
    const Run run = load_run(file.path().string());
    const std::string markdown = markdown_report(run.document), html = html_report(run.document);
    tessera::fuzz::require(!markdown.empty() && html.ends_with("</html>\n"), "a page was not finished");
    tessera::fuzz::require(html.find("<script>alert") == std::string::npos, "a page holds a document's own script");
    const Diff diff = diff_runs(run, run);
    tessera::fuzz::require(!diff_report(diff).empty(), "a comparison says nothing");
  } catch (const DocumentError&) {
    return; // a clear refusal
  }
}
