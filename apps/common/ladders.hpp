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

/// Returns a kernel of kernels_json() as a record of `width` columns; see wrapped_record(). `more` is added to its
/// text.
std::string kernel_record(const nlohmann::ordered_json& kernel, std::size_t width, const std::string& more = "");

} // namespace tessera::apps
