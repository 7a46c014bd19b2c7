/// The examination of a machine: a sound one passes, and a core or a backend that computes wrongly is named.

#include <algorithm>

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>
#include <tessera/checking/health.hpp>
#include <tessera/detail/processors.hpp>
#include <tessera/detail/stopwatch.hpp>

#include "extensions/verify/fault.hpp"
#include "support/expect.hpp"

using namespace tessera;
using tessera::test::expect_error;
using tessera::test::Fault;
using tessera::test::FaultKind;

namespace {

void plant(const Fault& fault) {
  static_cast<void>(executor(parse_backend("faulty")));
  test::fault_setter(FAULTY_PLUGIN)(fault);
}

HealthReport examine(double seconds) { return health({.seconds = seconds, .backends = {parse_backend("faulty")}}); }

} // namespace

BOOST_AUTO_TEST_SUITE(examination)

BOOST_AUTO_TEST_CASE(a_sound_machine_passes) {
  plant({});
  const HealthReport report = health({.seconds = 4});
  BOOST_TEST(report.sound(), to_text(report));
  BOOST_TEST(report.rounds >= 1u);
  BOOST_TEST(report.runs > 1000u);
  BOOST_TEST(static_cast<int>(report.cores.size()) == detail::ProcessorMask::of_thread(0).count());
  for (const char* backend : {"reference", "faulty"})
    BOOST_TEST(std::count(report.backends.begin(), report.backends.end(), backend) == 1);
  BOOST_TEST(test::contains(to_text(report), "sound: "));
}

BOOST_AUTO_TEST_CASE(a_core_that_computes_wrongly_is_named_within_a_second) {
  const int core = detail::ProcessorMask::of_thread(0).first();
  plant({.kind = FaultKind::ResultBits, .row = 5, .col = 7, .bit = 0, .always = true, .core = core});
  const measure::HostStopwatch watch;
  const HealthReport report = examine(0);
  BOOST_TEST(watch.seconds() < 1.0);
  plant({});
  BOOST_TEST(!report.sound());
  bool alone = false;
  for (const HealthFinding& finding : report.findings) {
    BOOST_TEST(finding.backend == "faulty");
    BOOST_TEST(finding.wrong <= finding.runs);
    if (finding.core != -1) BOOST_TEST(finding.core == core, to_text(report));
    if (finding.core != core || finding.at_once || finding.test != "product f32 strict 24x24x24") continue;
    alone = true;
    BOOST_TEST(finding.row == 5);
    BOOST_TEST(finding.col == 7);
    BOOST_TEST(finding.wrong == finding.runs);
    BOOST_TEST(finding.found.size() == 10u);
    BOOST_TEST(finding.found != finding.expected);
  }
  BOOST_TEST(alone, to_text(report));
  BOOST_TEST(test::contains(to_text(report), "NOT SOUND"));
  BOOST_TEST(test::contains(to_text(report),
                            ", core " + std::to_string(core) + ": product f32 strict 24x24x24: element (5, 7)"));
}

BOOST_AUTO_TEST_CASE(a_fault_that_happens_once_is_counted) {
  plant({.kind = FaultKind::ResultBits, .row = 1, .col = 2, .bit = 3});
  const HealthReport report = examine(0);
  BOOST_TEST_REQUIRE(report.findings.size() == 1u, to_text(report));
  BOOST_TEST(report.findings[0].wrong == 1u);
  BOOST_TEST(report.findings[0].runs > 1u);
}

BOOST_AUTO_TEST_CASE(wrong_questions) {
  expect_error<InvalidArgument>([] { static_cast<void>(health({.seconds = -1})); }, {"seconds = -1", "from 0 on"});
}

BOOST_AUTO_TEST_SUITE_END()
