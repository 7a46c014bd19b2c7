#pragma once

/// Operations as --list and --op without a name print them.

#include <nlohmann/json.hpp>

#include "catalogue.hpp"

namespace tessera::compare_app {

nlohmann::ordered_json to_json(const NamedOperation& operation);

/// Returns one line of text about an operation of to_json().
std::string operation_line(const nlohmann::ordered_json& operation);

} // namespace tessera::compare_app
