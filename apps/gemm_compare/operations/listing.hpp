#pragma once

/// Operations as --list and --op without a name print them.

#include <nlohmann/json.hpp>

#include "catalogue.hpp"

namespace tessera::compare_app {

nlohmann::ordered_json to_json(const NamedOperation& operation);

/// Returns an operation of to_json() as a record of `width` columns; see apps::wrapped_record().
std::string operation_record(const nlohmann::ordered_json& operation, std::size_t width);

} // namespace tessera::compare_app
