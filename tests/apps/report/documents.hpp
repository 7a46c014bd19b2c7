#pragma once

/// Synthetic documents for the tests of the reports.

#include <initializer_list>
#include <string>

#include "report/document.hpp"

namespace tessera::report::testing {

/// Returns an entry that passed: a square f32 product of openmp with seven samples within 1 % of the median.
Json passed(const std::string& kernel, int size, double seconds);

/// Returns the entry with some fields replaced: {"backend", "cuda"}, …
Json with(Json entry, std::initializer_list<std::pair<const char*, Json>> fields);

/// Returns the entry with these times.
Json timed(Json entry, double min, double median, double max, int samples);

Json document(std::initializer_list<Json> entries);

/// Returns a document as a full run makes it: CPU and GPU, two types, five sizes, 300 entries, one of them
/// wrong. The GPU is faster from n ≈ 396 on, and with transfers from n ≈ 597 on. Each type has three classes of
/// grades.
Json full_run();

/// Says whether the part stands in the text.
bool says(const std::string& text, const std::string& part);

/// Returns a section of a page, or an empty text if there is none.
std::string section(const std::string& page, const std::string& id);

/// Returns a run of the processor as gemm_compare --cpu --all-modes makes it: one type, two sizes, a strict kernel of
/// 100 GFLOP/s and kernels of two other modes, of which the model has 0.04 GFLOP/s and stands first.
Json run_of_modes();

/// Counts how often a word stands in a text.
std::size_t count(const std::string& text, const std::string& word);

} // namespace tessera::report::testing
