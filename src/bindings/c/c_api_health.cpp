/// The C interface of the examination of a machine, and of the counts of verified products.

#include <tessera/tessera.h>

#include <string>

#include <tessera/checking/health.hpp>

#include "c_api.hpp"
#include "core/base/cut_text.hpp"

using namespace tessera::c_api;

tessera_status tessera_health(double seconds, tessera_health_report* report) {
  return guarded([&] {
    if (report == nullptr)
      throw tessera::InvalidArgument("report is null; pass the address of a tessera_health_report");
    if (report->size != sizeof(tessera_health_report))
      throw tessera::InvalidArgument("report.size = " + std::to_string(report->size) + ", but this library's is " +
                                     std::to_string(sizeof(tessera_health_report)) +
                                     "; set it to sizeof(tessera_health_report) before the call");
    const tessera::HealthReport found = tessera::health({.seconds = seconds});
    report->sound = found.sound() ? 1 : 0;
    report->findings = found.findings.size();
    report->rounds = found.rounds;
    report->runs = found.runs;
    report->seconds = found.seconds;
    report->core = found.sound() ? -1 : found.findings.front().core;
    tessera::cut_text(tessera::to_text(found), report->text);
  });
}

void tessera_verify_counts(uint64_t* products, uint64_t* wrong, uint64_t* repaired) {
  const tessera::VerifyCounts counts = tessera::verify_counts();
  if (products != nullptr) *products = counts.products;
  if (wrong != nullptr) *wrong = counts.wrong;
  if (repaired != nullptr) *repaired = counts.repaired;
}
