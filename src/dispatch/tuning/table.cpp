/// Reads and writes the file of a tuning table.

#include <tessera/tuning.hpp>

#include <cstdint>
#include <limits>
#include <sstream>

#include <nlohmann/json.hpp>

#include <tessera/detail/json_nesting.hpp>
#include <tessera/io.hpp>
#include <tessera/status.hpp>
#include <tessera/version.hpp>

namespace tessera {
namespace {

using Json = nlohmann::json;
constexpr const char* schema = "tessera.tuning/1";

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& why) {
  throw IoError("tuning table " + path.string() + ": " + why + "; delete it, or make it anew with gemm_compare tune");
}

/// Reads a size. A number with a fraction or beyond the range of Index is none, and must not be converted to one.
Index size_at(const Json& row, const char* key) {
  const Json& number = row.at(key);
  const bool fits = number.is_number_integer() &&
                    (!number.is_number_unsigned() ||
                     number.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<Index>::max()));
  if (!fits) throw InvalidArgument("'" + std::string(key) + "' is " + number.dump() + ", not a size");
  return number.get<Index>();
}

std::string contents(const std::filesystem::path& path) try {
  return read_text_file(path);
} catch (const IoError& error) {
  throw IoError(std::string("tuning table ") + error.what() + "; delete it, or make it anew with gemm_compare tune");
}

TunedProduct product_of(const Json& row) {
  TunedProduct product;
  product.type = parse_dtype(row.at("dtype").get<std::string>());
  product.math = parse_math(row.at("math").get<std::string>());
  product.m = size_at(row, "m");
  product.n = size_at(row, "n");
  product.k = size_at(row, "k");
  product.kernel = row.at("kernel").get<std::string>();
  product.seconds = row.at("seconds").get<double>();
  if (product.m < 1 || product.n < 1 || product.k < 1)
    throw InvalidArgument("a product of " + std::to_string(product.m) + "×" + std::to_string(product.n) + "×" +
                          std::to_string(product.k));
  return product;
}

} // namespace

TuningTable load_tuning(const std::filesystem::path& path) {
  const std::string text = contents(path);
  if (detail::json_nesting(text) > detail::most_json_nesting)
    fail(path, "it is nested deeper than " + std::to_string(detail::most_json_nesting) + " levels");
  try {
    const Json document = Json::parse(text);
    const std::string found = document.at("schema").get<std::string>();
    if (found != schema) fail(path, "its schema is '" + found + "', not '" + schema + "'");
    TuningTable table;
    table.backend = parse_backend(document.at("backend").get<std::string>());
    table.device = document.at("device").get<std::string>();
    table.driver = document.at("driver").get<std::string>();
    for (const Json& row : document.at("products")) table.products.push_back(product_of(row));
    return table;
  } catch (const Json::exception& error) {
    fail(path, error.what());
  } catch (const InvalidArgument& error) {
    fail(path, error.what());
  }
}

void save_tuning(const std::filesystem::path& path, const TuningTable& table) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error) throw IoError("cannot make the folder of " + path.string() + ": " + error.message());
  // Each product is one line, because people read tables and keep them in repositories.
  std::ostringstream text;
  const Json head{{"schema", schema},
                  {"backend", to_string(table.backend)},
                  {"device", table.device},
                  {"driver", table.driver},
                  {"tessera", TESSERA_VERSION}};
  std::string opening = head.dump(-1, ' ', false, Json::error_handler_t::replace);
  opening.back() = ',';
  text << opening << "\n\"products\": [";
  const char* separator = "\n";
  for (const TunedProduct& p : table.products) {
    text << separator
         << Json{{"dtype", to_string(p.type)}, {"math", to_string(p.math)}, {"m", p.m}, {"n", p.n}, {"k", p.k},
                 {"kernel", p.kernel},         {"seconds", p.seconds}}
                .dump(-1, ' ', false, Json::error_handler_t::replace);
    separator = ",\n";
  }
  text << "\n]}\n";
  write_text_file(path, text.str());
}

} // namespace tessera
