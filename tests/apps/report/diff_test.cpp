#include <boost/test/unit_test.hpp>

#include <unistd.h>
#include <filesystem>
#include <fstream>

#include "documents.hpp"
#include "report/diff.hpp"

using namespace tessera::report;
using namespace tessera::report::testing;

namespace {

Diff diff(const Json& before, const Json& after) { return diff_runs(read_run(before), read_run(after)); }

struct Times {
  double min, median, max;
  int samples = 7;
};

DiffEntry change(Times before, Times after) {
  const Json entry = passed("simd", 64, 1);
  const Diff found = diff(document({timed(entry, before.min, before.median, before.max, before.samples)}),
                          document({timed(entry, after.min, after.median, after.max, after.samples)}));
  BOOST_REQUIRE(found.entries.size() == 1);
  return found.entries[0];
}

std::string error_of(const std::string& content) {
  const auto file = std::filesystem::temp_directory_path() / ("tessera_diff_" + std::to_string(getpid()) + ".json");
  std::ofstream(file) << content;
  std::string reason = "accepted";
  try {
    load_run(file.string());
  } catch (const DocumentError& error) {
    reason = error.what();
    BOOST_TEST(reason.starts_with(file.string() + ": "));
  }
  std::filesystem::remove(file);
  return reason;
}

} // namespace

BOOST_AUTO_TEST_CASE(apart_and_more_than_five_percent) {
  BOOST_TEST((change({0.99, 1.00, 1.01}, {1.19, 1.20, 1.25}).change == Change::Slower));
  BOOST_TEST((change({1.19, 1.20, 1.25}, {0.99, 1.00, 1.01}).change == Change::Faster));
  BOOST_TEST(change({0.99, 1.00, 1.01}, {1.19, 1.20, 1.25}).ratio == 1.2);
}

BOOST_AUTO_TEST_CASE(one_slow_sample_does_not_hide_a_change) {
  // The slowest old sample is slower than the fastest new sample, but faster than the new median.
  BOOST_TEST((change({0.99, 1.00, 1.18}, {1.15, 1.20, 1.25}).change == Change::Slower));
  // Here it is slower than the new median.
  BOOST_TEST((change({0.99, 1.00, 1.21}, {1.15, 1.20, 1.25}).change == Change::CannotTell));
}

BOOST_AUTO_TEST_CASE(apart_by_little_is_the_same) {
  BOOST_TEST((change({0.999, 1.000, 1.001}, {1.039, 1.040, 1.041}).change == Change::Same));
  BOOST_TEST((change({0.999, 1.000, 1.001}, {1.059, 1.060, 1.061}).change == Change::Slower));
}

BOOST_AUTO_TEST_CASE(narrow_and_overlapping_is_the_same) {
  BOOST_TEST((change({0.98, 1.00, 1.03}, {0.97, 1.01, 1.04}).change == Change::Same));
}

BOOST_AUTO_TEST_CASE(wide_and_overlapping_cannot_be_told) {
  const DiffEntry entry = change({0.7, 1.0, 1.5}, {0.8, 1.2, 1.6});
  BOOST_TEST((entry.change == Change::CannotTell));
  BOOST_TEST(says(entry.reason, "overlap"));
}

BOOST_AUTO_TEST_CASE(few_samples_cannot_be_told) {
  const DiffEntry one = change({1, 1, 1, 1}, {2, 2, 2, 7});
  BOOST_TEST((one.change == Change::CannotTell));
  BOOST_TEST(one.reason == "1 sample in the old run; needs 5");
  BOOST_TEST(change({1, 1, 1, 7}, {2, 2, 2, 4}).reason == "4 samples in the new run; needs 5");
  BOOST_TEST((change({1, 1, 1, 5}, {2, 2, 2, 5}).change == Change::Slower));
}

BOOST_AUTO_TEST_CASE(times_that_are_missing_or_make_no_sense) {
  const Json entry = passed("simd", 64, 1);
  const Json untimed = with(entry, {{"seconds", nullptr}, {"verdict", "skipped"}, {"reason", "too slow"}});
  BOOST_TEST(diff(document({entry}), document({untimed})).entries[0].reason ==
             "no time in the new run (skipped: too slow)");
  Json null = entry;
  null["seconds"]["median"] = nullptr;
  BOOST_TEST((diff(document({null}), document({entry})).entries[0].change == Change::CannotTell));
  BOOST_TEST(says(change({1.2, 1.0, 1.1}, {1, 1, 1}).reason, "make no sense"));
  BOOST_TEST((change({0, 1, 1}, {1, 1, 1}).change == Change::CannotTell));
  const double nan = unknown;
  Json not_a_number = entry;
  not_a_number["seconds"]["max"] = nan;
  BOOST_TEST((diff(document({entry}), document({not_a_number})).entries[0].change == Change::CannotTell));
}

BOOST_AUTO_TEST_CASE(a_row_that_no_longer_passes_is_broken) {
  const Json entry = passed("simd", 64, 1);
  const Json wrong = with(entry, {{"verdict", "wrong"}, {"reason", "2 × the bound"}});
  const Diff found = diff(document({entry}), document({wrong}));
  BOOST_TEST((found.entries[0].change == Change::Broken));
  BOOST_TEST(found.entries[0].reason == "pass → wrong: 2 × the bound");
  BOOST_TEST(found.worse());
  BOOST_TEST((diff(document({wrong}), document({entry})).entries[0].change == Change::Same));
}

BOOST_AUTO_TEST_CASE(entries_are_matched_by_all_that_names_them) {
  const Json entry = passed("simd", 64, 1);
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, Json>>{{"backend", "tbb"},
                                                                                      {"kernel", "naive"},
                                                                                      {"dtype", "f64"},
                                                                                      {"math", "tf32"},
                                                                                      {"m", 65},
                                                                                      {"trans_b", true},
                                                                                      {"beta", 1.0},
                                                                                      {"alpha", 2.0},
                                                                                      {"threads", 1},
                                                                                      {"op", "sum_of_squares"}}) {
    const Diff found = diff(document({entry}), document({with(entry, {{key, value}})}));
    BOOST_TEST_CONTEXT(key) {
      BOOST_TEST(found.entries.empty());
      BOOST_TEST(found.only_old.size() == 1);
      BOOST_TEST(found.only_new.size() == 1);
    }
  }
  const Diff twice = diff(document({entry, entry}), document({entry, entry, entry}));
  BOOST_TEST(twice.entries.size() == 2);
  BOOST_TEST(twice.only_new.size() == 1);
  BOOST_TEST(twice.only_old.empty());
}

BOOST_AUTO_TEST_CASE(other_machines_are_warned_about) {
  const Json before = document({passed("simd", 64, 1)});
  Json after = before;
  after["machine"]["date"] = "2027-01-01T00:00:00Z";
  BOOST_TEST(diff(before, after).differences.empty());
  after["machine"]["cpu"] = "Another";
  after["machine"]["devices"][1]["driver"] = "2.0";
  after["machine"].erase("threads");
  const Diff found = diff(before, after);
  BOOST_TEST(found.differences.size() == 3);
  const std::string report = diff_report(found);
  BOOST_TEST(report.starts_with("warning: "));
  BOOST_TEST(says(report, "cpu: A Processor → Another"));
  BOOST_TEST(says(report, "devices/cuda/driver: 1.0 → 2.0"));
  BOOST_TEST(says(report, "threads: 2 → nothing"));
}

BOOST_AUTO_TEST_CASE(a_run_on_fewer_devices_is_no_other_machine) {
  const Json before = document({passed("simd", 64, 1)});
  Json after = before;
  after["machine"]["devices"].erase(0);
  BOOST_TEST(diff(before, after).differences.empty());
  BOOST_TEST(diff(after, before).differences.empty());
}

BOOST_AUTO_TEST_CASE(the_report_begins_with_the_worst) {
  const auto two = [](double fast, double slow) {
    return document({timed(passed("fast", 64, 1), fast, fast, fast, 7),
                     timed(passed("slow", 64, 1), slow, slow, slow, 7), passed("same", 64, 1)});
  };
  const std::string report = diff_report(diff(two(1, 1), two(0.5, 1.5)));
  BOOST_TEST(report.starts_with("slower"));
  BOOST_TEST(says(report, "+50.0 %"));
  BOOST_TEST(says(report, "-50.0 %"));
  BOOST_TEST(!says(report, "openmp same"));
  BOOST_TEST(says(report, "1 faster, 1 slower, 1 same, 0 can't tell, 0 broken"));
}

BOOST_AUTO_TEST_CASE(files_that_are_no_reports) {
  BOOST_TEST(says(error_of("{\"schema\": \"tessera.compare/1\", \"resu"), "is not JSON"));
  BOOST_TEST(says(error_of(""), "is not JSON"));
  BOOST_TEST(says(error_of("[]"), "not an object"));
  BOOST_TEST(says(error_of("{\"schema\": \"tessera.compare/9\"}"), "tessera.compare/9"));
  BOOST_CHECK_THROW(load_run("/nonexistent/report.json"), DocumentError);
  BOOST_CHECK_THROW(load_run("/"), DocumentError);
}
