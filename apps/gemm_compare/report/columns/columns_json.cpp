/// Writes entries to JSON and reads them from there, both by the one list of columns.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "json_fields.hpp"
#include "value.hpp"

namespace tessera::report {
namespace {

/// Splits the key "seconds/median" into the object "seconds", which is empty for a key at the top, and "median".
std::pair<std::string, std::string> split(const char* key) {
  const std::string path = key;
  const std::size_t slash = path.find('/');
  return slash == std::string::npos ? std::pair(std::string(), path)
                                    : std::pair(path.substr(0, slash), path.substr(slash + 1));
}

struct ToJson {
  const Column& column;
  Json operator()(const std::string& word) const { return word; }
  Json operator()(bool flag) const { return flag; }
  Json operator()(int number) const { return number; }
  Json operator()(std::int64_t number) const { return number; }
  Json operator()(double number) const {
    return is_count(column, number) ? Json(static_cast<std::int64_t>(number)) : Json(number);
  }
};

struct IsUnknown {
  bool operator()(const std::string& word) const { return word.empty(); }
  bool operator()(bool) const { return false; }
  bool operator()(int number) const { return number == 0; }
  bool operator()(std::int64_t number) const { return number == 0; }
  bool operator()(double number) const { return std::isnan(number); }
};

/// Some column of an object in the result, "seconds" or "error", has a value.
bool has_values(const std::string& object, const Entry& entry) {
  return std::any_of(columns().begin(), columns().end(), [&](const Column& column) {
    return split(column.key).first == object && !visit_value(column, entry, IsUnknown());
  });
}

void read_value(const Json& object, const char* key, std::string& word) { word = word_at(object, key, word.c_str()); }
void read_value(const Json& object, const char* key, bool& flag) { flag = flag_at(object, key); }
void read_value(const Json& object, const char* key, std::int64_t& number) { number = whole_at(object, key); }
void read_value(const Json& object, const char* key, double& number) { number = number_at(object, key, number); }
void read_value(const Json& object, const char* key, int& number) {
  number = static_cast<int>(std::min<std::int64_t>(whole_at(object, key), 1'000'000));
}

/// Reads the column's value from the object that has its key.
void read_column(const Column& column, const Json& object, const char* key, Entry& entry) {
  std::visit(
      [&](auto value) {
        if constexpr (std::is_same_v<decltype(value), Stored>)
          entry.numbers[column.name] = number_at(object, key);
        else if constexpr (!std::is_same_v<decltype(value), double (*)(const Entry&)>)
          read_value(object, key, entry.*value);
      },
      column.value);
}

} // namespace

Json columns_json(const Entry& entry) {
  Json json = Json::object();
  for (const Column& column : columns()) {
    const auto [object, key] = split(column.key);
    if (key.empty() || (column.optional && visit_value(column, entry, IsUnknown()))) continue;
    Json value = visit_value(column, entry, ToJson{column});
    if (object.empty())
      json[key] = std::move(value);
    else if (has_values(object, entry))
      json[object][key] = std::move(value);
    else
      json[object] = nullptr;
  }
  return json;
}

void read_columns(const Json& result, Entry& entry) {
  for (const Column& column : columns()) {
    const auto [name, key] = split(column.key);
    const Json* object = name.empty() ? &result : find(result, name.c_str());
    if (key.empty() || object == nullptr) continue;
    if (!object->is_object()) wrong_type(name.c_str(), *object, "an object");
    read_column(column, *object, key.c_str(), entry);
  }
}

Json kernel_json(const Entry& entry) {
  Json json = Json::object();
  for (const Column& column : columns())
    if (column.names_kernel) json[column.key] = visit_value(column, entry, ToJson{column});
  return json;
}

void read_kernel(const Json& object, Entry& entry) {
  for (const Column& column : columns())
    if (column.names_kernel) read_column(column, object, column.key, entry);
}

} // namespace tessera::report
