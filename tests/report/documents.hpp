#pragma once

/// Synthetic documents for the tests of the reports.

#include <initializer_list>
#include <string>

#include "report/document.hpp"

namespace tessera::report::testing {

/// A row that passed: a square f32 product of openmp, seven samples within 1 % of the median.
Json passed(const std::string& kernel, int size, double seconds);

/// The same with other fields: {"backend", "cuda"}, …
Json with(Json row, std::initializer_list<std::pair<const char*, Json>> fields);

/// The row with these times.
Json timed(Json row, double min, double median, double max, int samples);

Json document(std::initializer_list<Json> rows);

/// Processor and graphics card, two types, five sizes, 300 rows, one of them wrong: what a full run looks like. The
/// card is faster from n ≈ 396 on, with transfers from n ≈ 597. Three classes of grades a type.
Json full_run();

/// Whether the part stands in the text.
bool says(const std::string& text, const std::string& part);

/// How often a word stands in a text.
std::size_t count(const std::string& text, const std::string& word);

} // namespace tessera::report::testing
