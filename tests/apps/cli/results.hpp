#pragma once

/// Finds entries of a "tessera.compare/1" document.

#include <string>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

namespace tessera::test {

/// Returns the first result of a kernel, of any backend if `backend` is empty. If there is none, the test fails and the
/// result is null.
inline nlohmann::json result_of(const nlohmann::json& document, const std::string& kernel,
                                const std::string& backend = {}) {
  for (const nlohmann::json& result : document["results"])
    if (result["kernel"] == kernel && (backend.empty() || result["backend"] == backend)) return result;
  BOOST_FAIL("no result of " + backend + " " + kernel);
  return {};
}

/// Says whether the result is right, or its kernel cannot run on this CPU and the result says so.
inline bool passes_or_lacks_amx(const nlohmann::json& result) {
  if (result["verdict"] == "pass") return true;
  return result["kernel"].get<std::string>().starts_with("amx_") && result["verdict"] == "rejected" &&
         result["reason"].get<std::string>().find("AMX") != std::string::npos;
}

/// Does a document with a list of backends (tessera_info --json, gemm_compare --list) have one with a GPU?
inline bool has_gpu(const nlohmann::json& document) {
  for (const nlohmann::json& backend : document["backends"])
    if (backend["memory"] == "device" && backend["available"] == true && backend["serves_auto"] == true) return true;
  return false;
}

inline bool has_backend(const nlohmann::json& document, const std::string& backend) {
  for (const nlohmann::json& result : document["results"])
    if (result["backend"] == backend) return true;
  return false;
}

} // namespace tessera::test
