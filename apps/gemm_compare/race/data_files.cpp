#include "data_files.hpp"

#include <variant>

#include <fmt/format.h>

#include <tessera/half.hpp>
#include <tessera/interop/io.hpp>
#include <tessera/status.hpp>

namespace tessera::compare_app {
namespace {

std::string shape_text(Index rows, Index cols, Op op) {
  return op == Op::None ? fmt::format("{}×{}", rows, cols) : fmt::format("{}×{} (transposed)", cols, rows);
}

void check_type(const std::string& file, DType type, const std::string& other, DType expected) {
  if (type != expected)
    throw InvalidArgument(fmt::format("{} holds {}, but {} {}; both must be the same", file, to_string(type), other,
                                      to_string(expected)));
}

} // namespace

struct DataFiles::Matrices {
  template <class T>
  struct Typed {
    Matrix<T> a, b;

    explicit Typed(const Options& options) : a(load_npy<T>(options.file_a)), b(load_npy<T>(options.file_b)) {}
  };

  template <class... Ts>
  using OneTyped = std::variant<Typed<Ts>...>;
  template <class... Ts>
  using OneMatrix = std::variant<Matrix<Ts>...>;

  decltype(element_types)::Apply<OneTyped> typed;
  decltype(element_types)::Apply<OneMatrix> c;
};

FileOperands inspect_files(const Options& options) {
  const NpyInfo a = inspect_npy(options.file_a);
  const NpyInfo b = inspect_npy(options.file_b);
  check_type(options.file_b, b.type, options.file_a + " holds", a.type);
  if (options.types_given)
    for (const DType type : options.types) check_type(options.file_a, a.type, "--dtype asks for", type);
  const bool flip_a = options.op_a == Op::Transpose;
  const bool flip_b = options.op_b == Op::Transpose;
  const GemmShape shape{flip_a ? a.cols : a.rows, flip_b ? b.rows : b.cols, flip_a ? a.rows : a.cols};
  const Index inner = flip_b ? b.cols : b.rows;
  if (shape.k != inner)
    throw InvalidArgument(fmt::format(
        "--a is {} and --b is {}; the columns of a must be as many as the rows of b, but "
        "{} ≠ {}",
        shape_text(a.rows, a.cols, options.op_a), shape_text(b.rows, b.cols, options.op_b), shape.k, inner));
  return {a.type, shape};
}

void check_file_c(const Options& options, const FileOperands& product) {
  if (options.file_c.empty()) return;
  const GemmShape& shape = product.shape;
  const NpyInfo c = inspect_npy(options.file_c);
  check_type(options.file_c, c.type, options.result ? "--result asks for" : options.file_a + " holds",
             options.result_of(product.type));
  if (c.rows != shape.m || c.cols != shape.n)
    throw InvalidArgument(fmt::format("--c is {}×{}, but the product is {}×{}", c.rows, c.cols, shape.m, shape.n));
}

DataFiles::DataFiles(const Options& options, DType type)
    : matrices_(visit(type, [&]<class T>(std::type_identity<T>) {
        return std::make_unique<Matrices>(Matrices{Matrices::Typed<T>(options), {}});
      })) {
  std::visit([this](const auto& x) { given_ = {.a = x.a.data(), .lda = x.a.ld(), .b = x.b.data(), .ldb = x.b.ld()}; },
             matrices_->typed);
  if (options.file_c.empty()) return;
  visit(options.result_of(type), [&]<class T>(std::type_identity<T>) { matrices_->c = load_npy<T>(options.file_c); });
  std::visit(
      [this](const auto& c) {
        given_.c = c.data();
        given_.ldc = c.ld();
      },
      matrices_->c);
}
DataFiles::~DataFiles() = default;

void write_product(const Options& options, const Stored& c, const std::vector<std::byte>& elements) {
  visit(c.type, [&]<class T>(std::type_identity<T>) {
    const auto* data = reinterpret_cast<const T*>(elements.data());
    save_npy(options.file_out, MatrixView<const T>::wrap(data, c.rows, c.cols, c.ld));
  });
}

} // namespace tessera::compare_app
