#pragma once

/// Backends and their kernels, as tessera_info and gemm_compare --list print them.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tessera/backend.hpp>

namespace tessera::apps {

nlohmann::ordered_json to_json(const BackendInfo& info);

/// Returns every kernel of a backend, best first: products, then reductions. It needs no device.
nlohmann::ordered_json kernels_json(Backend backend);

/// Returns one line of text about a kernel of kernels_json().
std::string kernel_line(const nlohmann::ordered_json& kernel);

} // namespace tessera::apps
