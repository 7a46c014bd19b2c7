#include "certificate.hpp"

#include <map>

#include <fmt/format.h>

#include <tessera/checking/check.hpp>
#include <tessera/detail/printable.hpp>
#include <tessera/files.hpp>
#include <tessera/status.hpp>

namespace tessera::compare_app {
namespace {

/// Files of a batch. A file with one matrix stands for all products.
class Files {
 public:
  explicit Files(const CheckRequest& request) {
    read("--a", request.a, request.type_a);
    read("--b", request.b, request.type_b);
    read("--c", request.c, std::nullopt);
    for (const auto& [option, path] : {std::pair{"--c-before", &request.c_before}, std::pair{"--bias", &request.bias},
                                       std::pair{"--residual", &request.residual}})
      if (!path->empty()) read(option, *path, std::nullopt);
    if (count_ > 1 && !files_.at("--c").is_batch)
      throw InvalidArgument(fmt::format("--c: is one matrix, but there are {} products", count_));
  }

  Index count() const { return count_; }

  CheckedMatrix matrix(const std::string& option, Index product, Op op = Op::None) const {
    const CheckedFile& file = files_.at(option);
    CheckedMatrix x = moved(file.first, file.stride, file.is_batch ? product : 0);
    if (op == Op::Transpose) x.op = x.op == Op::None ? Op::Transpose : Op::None;
    return x;
  }
  std::optional<CheckedMatrix> optional(const std::string& option, Index product) const {
    return files_.contains(option) ? std::optional(matrix(option, product)) : std::nullopt;
  }

 private:
  void read(const std::string& option, const std::string& path, std::optional<CheckedType> type) {
    const CheckedFile& file = files_[option] = load_checked_npy(path, type);
    if (type && file.first.type != *type)
      throw InvalidArgument(fmt::format("{}: {} holds {}, but --dtype says {}", option, path,
                                        checked_type(file.first.type).name, checked_type(*type).name));
    if (!file.is_batch) return;
    if (has_batch_ && file.count != count_)
      throw InvalidArgument(
          fmt::format("{}: {} holds {} matrices, but there are {} products", option, path, file.count, count_));
    count_ = file.count;
    has_batch_ = true;
  }

  std::map<std::string, CheckedFile> files_;
  Index count_ = 1;
  bool has_batch_ = false;
};

} // namespace

bool print_certificate(const Options& options) {
  const Files files(*options.check);
  std::vector<CheckedProduct> products;
  std::vector<CheckedMatrix> results;
  for (Index p = 0; p < files.count(); ++p) {
    products.push_back({files.matrix("--a", p, options.op_a), files.matrix("--b", p, options.op_b),
                        files.optional("--c-before", p), files.optional("--bias", p), files.optional("--residual", p)});
    results.push_back(files.matrix("--c", p));
  }
  const Certificate answer = check_batch(products, results, options.check->options);
  if (options.json != "-") fmt::print("{}", detail::printable(to_text(answer), true));
  if (options.json == "-")
    fmt::print("{}\n", to_json(answer));
  else if (!options.json.empty())
    write_text_file(options.json, to_json(answer) + "\n");
  return answer.right();
}

} // namespace tessera::compare_app
