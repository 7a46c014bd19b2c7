/// The entries of health.hpp.

#include <tessera/checking/health.hpp>

#include <new>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/number_text.hpp>
#include <tessera/detail/uncancelled.hpp>

#include "examination.hpp"

namespace tessera {
namespace {

std::string text_of(const HealthFinding& x) {
  std::string text = x.backend;
  if (!x.kernel.empty()) text += "/" + x.kernel;
  text += " (" + x.device + ")";
  if (x.core >= 0) text += ", core " + std::to_string(x.core);
  if (x.at_once) text += ", all cores at work";
  text += ": " + x.test + ": ";
  if (x.row >= 0)
    text += "element (" + std::to_string(x.row) + ", " + std::to_string(x.col) + ") is " + x.found + ", must be " +
            x.expected;
  else
    text += "the result is " + x.found + ", must be " + x.expected;
  return text + "; wrong in " + std::to_string(x.wrong) + " of " + std::to_string(x.runs) + " runs\n";
}

} // namespace

HealthReport health(const HealthOptions& options) try {
  const detail::Uncancelled whole;
  const detail::ContractArithmetic contract;
  return health_check::Examination(options).run();
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

std::string to_text(const HealthReport& report) {
  std::string text = report.sound() ? "sound: " : "NOT SOUND: ";
  text += std::to_string(report.runs) + " runs in " + std::to_string(report.rounds) + " rounds and " +
          detail::fixed_text(report.seconds, 1) + " s, on " + std::to_string(report.cores.size()) + " cores; backends";
  for (const std::string& backend : report.backends) text += " " + backend;
  text += "\n";
  for (const HealthFinding& finding : report.findings) text += text_of(finding);
  for (const HealthGap& gap : report.gaps)
    text += "not tested: " + gap.backend + (gap.backend.empty() ? "" : ": ") + gap.reason + "\n";
  return text;
}

} // namespace tessera
