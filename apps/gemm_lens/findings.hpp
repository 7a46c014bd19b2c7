#pragma once

/// The lens' findings in words.

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "report.hpp"

namespace tessera::lens {

/// `finding` and `run` are what the program wrote.
FindingReport finding_of(const nlohmann::json& finding, const nlohmann::json& run, const Place& place,
                         const Place& other, const std::string& kernel_file);

/// Returns why the run did not come to its end, as a sentence; empty if it did.
std::string end_of(const nlohmann::json& run, const Place& place, const Question& question);

/// Returns "line 12", or "line 12 of grid.cuh" where that is not the kernel's file.
std::string name_of(const Place& place, const std::string& kernel_file);

} // namespace tessera::lens
