#pragma once

/// Backends and their kernels, as both programs list them.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tessera/backend.hpp>

namespace tessera::apps {

nlohmann::ordered_json to_json(const BackendInfo& info);

/// Every kernel of a backend, best first: products, then reductions. Needs no device.
nlohmann::ordered_json kernels_json(Backend backend);

/// One line a kernel of kernels_json.
std::string kernel_line(const nlohmann::ordered_json& kernel);

} // namespace tessera::apps
