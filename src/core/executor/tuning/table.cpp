/// Reads and writes the file of a tuning table.

#include <tessera/detail/floating_point.hpp>
#include <tessera/performance/tuning.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#if defined(TESSERA_HAVE_JSON)
#include <nlohmann/json.hpp>
#endif

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/json_nesting.hpp>
#include <tessera/files.hpp>
#include <tessera/status.hpp>
#include <tessera/version.hpp>

namespace tessera {

#if defined(TESSERA_HAVE_JSON)
namespace {

using Json = nlohmann::json;
constexpr const char* schema = "tessera.tuning/1";

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& why) {
  throw IoError("tuning table " + path.string() + ": " + why + "; delete it, or make it anew with gemm_compare tune");
}

std::string contents(const std::filesystem::path& path) try {
  return read_text_file(path);
} catch (const IoError& error) {
  throw IoError(std::string("tuning table ") + error.what() + "; delete it, or make it anew with gemm_compare tune");
}

/// Reads a table value by value. A tree of values would be simpler, but its destructor allocates, and ends the process
/// where memory is short. Members that are not known are passed over.
class TableReader final : public Json::json_sax_t {
 public:
  explicit TableReader(const std::filesystem::path& path) : path_(path) {}

  /// Checks that nothing is missing.
  TuningTable table() && {
    for (const char* name : {"schema", "backend", "device", "driver", "products"})
      if (!seen_.contains(name)) fail(path_, std::string("it has no '") + name + "'");
    return std::move(table_);
  }

  bool null() override { return other("null"); }
  bool boolean(bool) override { return other("true or false"); }
  bool number_integer(number_integer_t value) override { return number(value, static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    const bool fits = std::in_range<Index>(value);
    return number(fits ? std::optional(static_cast<Index>(value)) : std::nullopt, static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return number({}, value); }
  bool binary(binary_t&) override { return other("bytes"); }
  bool string(string_t& text) override {
    if (depth_ == 1) {
      if (key_ == "schema" && text != schema) fail(path_, "its schema is '" + text + "', not '" + schema + "'");
      if (key_ == "backend") table_.backend = parse_backend(text);
      if (key_ == "device") table_.device = text;
      if (key_ == "driver") table_.driver = text;
      if (key_ == "products") other(text);
      seen_.insert(key_);
    } else if (in_product()) {
      if (key_ == "dtype")
        product_.type = parse_dtype(text);
      else if (key_ == "math")
        product_.math = parse_math(text);
      else if (key_ == "kernel")
        product_.kernel = text;
      else
        return other(text);
      seen_here_.insert(key_);
    }
    return true;
  }

  bool start_object(std::size_t) override {
    if (++depth_ == 3 && in_products_) {
      product_ = {};
      seen_here_.clear();
    }
    return true;
  }
  bool key(string_t& name) override {
    if (depth_ == 1 || in_product()) key_ = name;
    return true;
  }
  bool end_object() override {
    if (in_product()) add_product();
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    if (++depth_ == 2 && key_ == "products") {
      in_products_ = true;
      seen_.insert(key_);
    }
    return true;
  }
  bool end_array() override {
    if (--depth_ == 1) in_products_ = false;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception& error) override {
    fail(path_, error.what());
  }

 private:
  bool in_product() const { return in_products_ && depth_ == 3; }

  bool number(std::optional<Index> whole, double value) {
    if (depth_ == 1 && key_ == "revision" && whole && std::in_range<int>(*whole)) {
      table_.revision = static_cast<int>(*whole);
      return true;
    }
    if (!in_product()) return other(std::to_string(value));
    if (key_ == "seconds")
      product_.seconds = value;
    else if (Index* size = key_ == "m"   ? &product_.m
                           : key_ == "n" ? &product_.n
                           : key_ == "k" ? &product_.k
                                         : nullptr;
             size != nullptr && whole)
      *size = *whole;
    else
      return other(std::to_string(value));
    seen_here_.insert(key_);
    return true;
  }

  /// A value that none of the known members has.
  bool other(const std::string& value) const {
    static constexpr std::string_view top[]{"schema", "backend", "device", "driver", "revision", "products"};
    static constexpr std::string_view inner[]{"dtype", "math", "m", "n", "k", "kernel", "seconds"};
    const auto is_known = [&](const auto& names) { return std::ranges::find(names, key_) != std::end(names); };
    if ((depth_ == 1 && is_known(top)) || (in_product() && is_known(inner)))
      fail(path_, "its '" + key_ + "' is " + value);
    return true;
  }

  void add_product() {
    for (const char* name : {"dtype", "math", "m", "n", "k", "kernel", "seconds"})
      if (!seen_here_.contains(name)) fail(path_, std::string("a product has no '") + name + "'");
    if (product_.m < 1 || product_.n < 1 || product_.k < 1)
      fail(path_, "a product of " + std::to_string(product_.m) + "×" + std::to_string(product_.n) + "×" +
                      std::to_string(product_.k));
    table_.products.push_back(std::move(product_));
  }

  const std::filesystem::path& path_;
  TuningTable table_;
  TunedProduct product_;
  std::set<std::string> seen_, seen_here_; ///< members of the table, and of the product
  std::string key_;                        ///< the last member's name, of the table or of a product
  int depth_ = 0;                          ///< of objects and arrays
  bool in_products_ = false;
};

/// Returns a text as JSON writes it.
std::string json_text(std::string_view text) { return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace); }

} // namespace

TuningTable load_tuning(const std::filesystem::path& path) try {
  const detail::ContractArithmetic contract;
  const std::string text = contents(path);
  if (detail::json_nesting(text) > detail::most_json_nesting)
    fail(path, "it is nested deeper than " + std::to_string(detail::most_json_nesting) + " levels");
  try {
    TableReader reader(path);
    Json::sax_parse(text, &reader);
    return std::move(reader).table();
  } catch (const Json::exception& error) {
    fail(path, error.what());
  } catch (const InvalidArgument& error) {
    fail(path, error.what());
  }
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void save_tuning(const std::filesystem::path& path, const TuningTable& table) try {
  const detail::ContractArithmetic contract;
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error) throw IoError("cannot make the folder of " + path.string() + ": " + error.message());
  // Each product is one line, because people read tables and keep them in repositories.
  std::string text = "{\"backend\":" + json_text(to_string(table.backend)) + ",\"device\":" + json_text(table.device) +
                     ",\"driver\":" + json_text(table.driver) + ",\"revision\":" + std::to_string(table.revision) +
                     ",\"schema\":" + json_text(schema) + ",\"tessera\":" + json_text(TESSERA_VERSION) +
                     ",\n\"products\": [";
  const char* separator = "\n";
  for (const TunedProduct& p : table.products) {
    const auto member = [](const char* name, Index value) {
      return ",\"" + std::string(name) + "\":" + std::to_string(value);
    };
    text += separator;
    text += "{\"dtype\":" + json_text(to_string(p.type)) + member("k", p.k) + ",\"kernel\":" + json_text(p.kernel) +
            member("m", p.m) + ",\"math\":" + json_text(to_string(p.math)) + member("n", p.n) +
            ",\"seconds\":" + Json(p.seconds).dump() + "}";
    separator = ",\n";
  }
  text += "\n]}\n";
  write_text_file(path, text);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}
#else
namespace {

[[noreturn]] void fail_without_json(const std::filesystem::path& path) {
  throw IoError("tuning table " + path.string() + ": libtessera was built without nlohmann_json, which reads and " +
                "writes it; build it with -DTESSERA_JSON=ON, or set TESSERA_TUNING=none");
}

} // namespace

TuningTable load_tuning(const std::filesystem::path& path) { fail_without_json(path); }
void save_tuning(const std::filesystem::path& path, const TuningTable&) { fail_without_json(path); }
#endif

} // namespace tessera
