/// The list of columns drives every report: what it says is written, read, shown and explained.

#include <set>
#include <stdexcept>
#include <string>

#include <boost/test/unit_test.hpp>

#include <tessera/checking/compare.hpp>

#include "documents.hpp"
#include "report/columns/columns.hpp"
#include "report/html_report.hpp"
#include "report/markdown_report.hpp"

using namespace tessera::report;
using namespace tessera::report::testing;

namespace {

/// An entry in which every column has a value that differs from what a new Entry has.
Entry full_entry() {
  Entry entry;
  double next = 1;
  for (const Column& column : columns())
    std::visit(
        [&](auto value) {
          if constexpr (std::is_same_v<decltype(value), std::string Entry::*>)
            entry.*value = std::string("word_of_") + column.name;
          else if constexpr (std::is_same_v<decltype(value), bool Entry::*>)
            entry.*value = true;
          else if constexpr (std::is_same_v<decltype(value), Stored>)
            set_number(entry, column.name, ++next);
          else if constexpr (!std::is_same_v<decltype(value), double (*)(const Entry&)>)
            entry.*value = static_cast<std::decay_t<decltype(entry.*value)>>(++next);
        },
        column.value);
  entry.transfer = false;         // which Markdown leaves out
  entry.median = entry.min + 0.5; // min ≤ median ≤ max, for the spread
  entry.max = entry.min + 1;
  return entry;
}

Json at(const Json& result, const std::string& key) {
  const Json::json_pointer place("/" + key);
  return result.contains(place) ? result.at(place) : Json("missing");
}

} // namespace

BOOST_AUTO_TEST_SUITE(columns_of_a_result)

BOOST_AUTO_TEST_CASE(names_and_keys_are_unique_and_every_column_is_explained) {
  std::set<std::string> names, keys;
  for (const Column& column : columns()) {
    BOOST_TEST_CONTEXT(column.name) {
      BOOST_TEST(names.insert(column.name).second);
      if (*column.key != '\0') BOOST_TEST(keys.insert(column.key).second);
      BOOST_TEST(std::string(column.explains).size() > 5u);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_key_is_written_and_read_again) {
  const Entry entry = full_entry();
  const Json result = columns_json(entry);
  Entry read;
  read_columns(result, read);
  for (const Column& column : columns()) {
    if (*column.key == '\0') continue;
    BOOST_TEST_CONTEXT(column.name) {
      BOOST_TEST(at(result, column.key) != "missing");
      BOOST_TEST(exact_text(column, read) == exact_text(column, entry));
      if (column.value != Value(&Entry::transfer)) BOOST_TEST(exact_text(column, entry) != exact_text(column, Entry()));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_columns_that_name_a_kernel_are_written_and_read_again) {
  const Entry entry = full_entry();
  const Json kernel = kernel_json(entry);
  BOOST_TEST(kernel.size() == 5u); // backend, kernel, dtype, math and threads: a grade of any product has them
  Entry read;
  read_kernel(kernel, read);
  Json others = columns_json(read), unread = columns_json(Entry());
  for (const Column& column : columns()) {
    BOOST_TEST(kernel.contains(column.key) == column.names_kernel, column.name);
    if (!column.names_kernel) continue;
    BOOST_TEST(exact_text(column, read) == exact_text(column, entry), column.name);
    others.erase(column.key);
    unread.erase(column.key);
  }
  BOOST_TEST(others.dump() == unread.dump());
}

/// A race knows facts under the names of their columns; reports take all of them at once.
BOOST_AUTO_TEST_CASE(facts_that_a_race_knows_are_written_without_code_of_their_own) {
  Facts facts;
  set_number(facts, "model", 0.25);
  facts.gflops = 8;
  Entry entry;
  entry.facts() = facts;
  BOOST_TEST(columns_json(entry)["model_seconds"] == 0.25);
  BOOST_TEST(columns_json(entry)["gflops"] == 8);
  for (const char* name : {"no_such_column", "verdict", "gflops"}) // a member is set as a member
    BOOST_CHECK_THROW(set_number(facts, name, 1), std::logic_error);
}

BOOST_AUTO_TEST_CASE(every_number_of_an_error_is_a_column) {
  Entry entry;
  tessera::GemmError error;
  error.norm_product = 7;
  for (const tessera::ErrorNumber& number : tessera::error_numbers) {
    set_number(entry, number.name, number.value(error)); // throws where columns.cpp has no such column
    BOOST_TEST(at(columns_json(entry), std::string("error/") + number.name) != "missing", number.name);
  }
  BOOST_TEST(columns_json(entry)["error"]["norm_product"] == 7);
  BOOST_CHECK_THROW(set_number(entry, "no_such_column", 1), std::logic_error);
  BOOST_CHECK_THROW(set_number(entry, "verdict", 1), std::logic_error);
}

BOOST_AUTO_TEST_CASE(what_is_unknown_is_null_or_left_out) {
  Entry entry;
  entry.backend = entry.kernel = "some";
  const Json result = columns_json(entry);
  BOOST_TEST(result["seconds"].is_null());
  BOOST_TEST(result["error"].is_null());
  BOOST_TEST(!result.contains("result"));
  for (const Column& column : columns())
    if (*column.key != '\0' && !column.optional && std::string(column.key).find('/') == std::string::npos)
      BOOST_TEST(result.contains(column.key), column.name);
  const Json read = Json::parse(result.dump()); // numbers that are not finite become null
  BOOST_TEST(read["model_seconds"].is_null());
  BOOST_TEST(read["global_accesses"].is_null());
}

BOOST_AUTO_TEST_CASE(whole_numbers_have_no_fraction) {
  Entry entry = full_entry();
  set_number(entry, "global_accesses", 2e9);
  BOOST_TEST(columns_json(entry)["global_accesses"].dump() == "2000000000");
  BOOST_TEST(columns_json(entry)["model_seconds"].is_number_float());
}

BOOST_AUTO_TEST_CASE(reports_show_the_headings_and_the_page_explains_them) {
  const Json whole = document({columns_json(full_entry())});
  const std::string page = html_report(whole), tables = markdown_report(whole);
  for (const Column& column : columns()) {
    BOOST_TEST_CONTEXT(column.name) {
      if (column.page.heading != nullptr) {
        BOOST_TEST(says(page, std::string(">") + column.page.heading + "</button></th>"));
        BOOST_TEST(says(page, std::string(" title=\"") + column.explains + "\">"));
      }
      if (column.markdown.heading != nullptr)
        BOOST_TEST(says(tables, std::string(" ") + column.markdown.heading + " |"));
    }
  }
}

BOOST_AUTO_TEST_CASE(columns_stand_in_the_order_that_each_report_gives_them) {
  for (Shown Column::*report : {&Column::table, &Column::csv, &Column::markdown, &Column::page}) {
    int last = 0;
    for (const Column* column : shown_in(report)) {
      const Shown& shown = column->*report;
      BOOST_TEST(shown.order >= last);
      last = shown.order;
    }
  }
  BOOST_TEST(std::string(shown_in(&Column::table).back()->name) == "verdict"); // its reason follows
}

BOOST_AUTO_TEST_SUITE_END()
