#pragma once

/// Typed members of a JSON object. A member that is missing or null has its default; one of another type is a
/// DocumentError that names it.

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "report/document.hpp"

namespace tessera::report {

inline const Json* find(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}

[[noreturn]] inline void wrong_type(const char* key, const Json& value, const char* wanted) {
  throw DocumentError(fmt::format("'{}' is {}, not {}", key, value.type_name(), wanted));
}

inline double number_at(const Json& object, const char* key, double missing = unknown) {
  const Json* value = find(object, key);
  if (value == nullptr) return missing;
  if (!value->is_number()) wrong_type(key, *value, "a number");
  return value->get<double>();
}

/// A dimension or a count: a whole number that is not negative and is exact in a double.
inline std::int64_t whole_at(const Json& object, const char* key) {
  const double value = number_at(object, key, 0);
  if (!(value >= 0) || value > 0x1p53 || value != static_cast<double>(static_cast<std::int64_t>(value)))
    throw DocumentError(fmt::format("'{}' is {}, which is no size", key, value));
  return static_cast<std::int64_t>(value);
}

inline std::string word_at(const Json& object, const char* key, const char* missing = "") {
  const Json* value = find(object, key);
  if (value == nullptr) return missing;
  if (!value->is_string()) wrong_type(key, *value, "a string");
  return value->get<std::string>();
}

inline bool flag_at(const Json& object, const char* key) {
  const Json* value = find(object, key);
  if (value == nullptr) return false;
  if (!value->is_boolean()) wrong_type(key, *value, "true or false");
  return value->get<bool>();
}

} // namespace tessera::report
