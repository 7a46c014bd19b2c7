#include "tasks.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include <tessera/complex.hpp>
#include <tessera/half.hpp>

namespace tessera::test {
namespace {

/// Memory of an executor.
class Buffer {
 public:
  template <class T>
  Buffer(Executor& executor, const std::vector<T>& from) : executor_(executor), bytes_(from.size() * sizeof(T)) {
    if (bytes_ == 0) return;
    throw_if_failed(executor.allocate(bytes_, data_));
    throw_if_failed(executor.copy_in(executor.default_queue(), data_, bytes_, from.data(), bytes_, bytes_, 1));
  }
  ~Buffer() {
    if (data_ != nullptr) executor_.free(data_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const { return data_; }
  Bytes read() const {
    Bytes bytes(bytes_);
    throw_if_failed(executor_.copy_out(executor_.default_queue(), bytes.data(), bytes_, data_, bytes_, bytes_, 1));
    return bytes;
  }

 private:
  Executor& executor_;
  std::size_t bytes_;
  void* data_ = nullptr;
};

struct Shape {
  Index m, n, k;
  std::size_t a() const { return static_cast<std::size_t>(m * k); }
  std::size_t b() const { return static_cast<std::size_t>(k * n); }
  std::size_t c() const { return static_cast<std::size_t>(m * n); }
};
constexpr Shape shapes[] = {{8, 8, 8}, {3, 200, 300}, {67, 45, 1100}, {130, 150, 90}};

/// The exponents of A and B, of C, and the factors.
struct Sizes {
  const char* what;
  int least, most, c;
  double alpha, beta;
  bool positive = false;
};

template <class T, class R>
GemmCall call_of(const Shape& shape, const Sizes& sizes, const Buffer& a, const Buffer& b, const Buffer& c) {
  return {{.type = dtype_of<T>,
           .m = shape.m,
           .n = shape.n,
           .k = shape.k,
           .alpha = sizes.alpha,
           .a = a.data(),
           .lda = std::max<Index>(1, shape.k),
           .b = b.data(),
           .ldb = shape.n,
           .beta = sizes.beta,
           .c = c.data(),
           .ldc = shape.n},
          dtype_of<R>};
}

template <class T, class R = T>
Task product(const Shape& shape, const Sizes& sizes, bool with_epilogue = false) {
  const auto a = numbers<T>(shape.a(), sizes.least, sizes.most, sizes.positive);
  const auto b = numbers<T>(shape.b(), sizes.least, sizes.most, sizes.positive);
  const auto c = numbers<R>(shape.c(), sizes.c, sizes.c + 3, sizes.positive);
  const std::string name = "product " + std::string(to_string(dtype_of<T>)) + " to " +
                           std::string(to_string(dtype_of<R>)) + " " + std::to_string(shape.m) + "×" +
                           std::to_string(shape.n) + "×" + std::to_string(shape.k) +
                           (with_epilogue ? ", epilogue" : "");
  return {name + ", " + sizes.what, [=](Executor& executor) {
            const Buffer on_a(executor, a), on_b(executor, b), on_c(executor, c), residual(executor, c);
            GemmCall call = call_of<T, R>(shape, sizes, on_a, on_b, on_c);
            if (with_epilogue)
              call.epilogue = {.bias_per = BiasPer::Column,
                               .bias = residual.data(),
                               .activation = Activation::Gelu,
                               .residual = residual.data(),
                               .ld_residual = shape.n};
            throw_if_failed(executor.gemm(executor.default_queue(), call));
            return on_c.read();
          }};
}

template <class T>
Task batch(Index count, const Sizes& sizes) {
  constexpr Shape shape{9, 7, 11};
  const auto times = static_cast<std::size_t>(count);
  const auto a = numbers<T>(times * shape.a(), sizes.least, sizes.most);
  const auto b = numbers<T>(times * shape.b(), sizes.least, sizes.most);
  const auto c = numbers<T>(times * shape.c(), sizes.c, sizes.c + 3);
  return {"batch " + std::string(to_string(dtype_of<T>)) + ", " + sizes.what, [=](Executor& executor) {
            const Buffer on_a(executor, a), on_b(executor, b), on_c(executor, c);
            const GemmBatch group{.call = call_of<T, T>(shape, sizes, on_a, on_b, on_c),
                                  .count = count,
                                  .stride_a = shape.m * shape.k,
                                  .stride_b = shape.k * shape.n,
                                  .stride_c = shape.m * shape.n};
            throw_if_failed(executor.gemm_batch(executor.default_queue(), {&group, 1}));
            return on_c.read();
          }};
}

template <class T>
Task complex_product(const Sizes& sizes, double imaginary) {
  constexpr Shape shape{65, 70, 80};
  const auto a = numbers<T>(2 * shape.a(), sizes.least, sizes.most);
  const auto b = numbers<T>(2 * shape.b(), sizes.least, sizes.most);
  const auto c = numbers<T>(2 * shape.c(), sizes.c, sizes.c + 3);
  return {"complex product " + std::string(to_string(dtype_of<T>)) + ", " + sizes.what, [=](Executor& executor) {
            const Buffer on_a(executor, a), on_b(executor, b), on_c(executor, c);
            const ComplexGemmCall call{{.type = dtype_of<T>,
                                        .m = shape.m,
                                        .n = shape.n,
                                        .k = shape.k,
                                        .alpha = {sizes.alpha, imaginary},
                                        .a = on_a.data(),
                                        .lda = std::max<Index>(1, shape.k),
                                        .b = on_b.data(),
                                        .ldb = shape.n,
                                        .beta = {sizes.beta, imaginary},
                                        .c = on_c.data(),
                                        .ldc = shape.n}};
            throw_if_failed(gemm(executor, executor.default_queue(), call));
            return on_c.read();
          }};
}

constexpr Index rows = 300, cols = 400;
constexpr std::size_t elements = static_cast<std::size_t>(rows * cols);

template <class T>
Task reduction(const char* name, ReduceOp op, int least, int most) {
  const auto x = numbers<T>(elements, least, most);
  return {std::string(name) + " " + std::string(to_string(dtype_of<T>)), [=](Executor& executor) {
            const Buffer on_x(executor, x);
            ReduceResult result;
            throw_if_failed(
                executor.reduce(executor.default_queue(), {op, dtype_of<T>, rows, cols, on_x.data(), cols, 0}, result));
            Bytes bytes(sizeof(double));
            std::memcpy(bytes.data(), &result.value, sizeof(double));
            return bytes;
          }};
}

/// An element-wise operation on x of X and y of Z. Complex operations take the elements as half as many numbers.
template <class X, class Z = X>
Task element_wise(const char* name, MapOp op, double alpha, double beta, int least, int most) {
  const auto x = numbers<X>(elements, least, most);
  const auto y = numbers<Z>(elements, least - 1, most);
  return {std::string(name) + " " + std::string(to_string(dtype_of<X>)) + " to " + std::string(to_string(dtype_of<Z>)),
          [=](Executor& executor) {
            const Buffer on_x(executor, x), on_y(executor, y), on_z(executor, y);
            const Index across = is_complex(op) ? cols / 2 : cols;
            MapCall call{.op = op,
                         .type = dtype_of<Z>,
                         .rows = rows,
                         .cols = across,
                         .alpha = alpha,
                         .beta = beta,
                         .x = on_x.data(),
                         .ldx = across,
                         .y = on_y.data(),
                         .ldy = across,
                         .z = on_z.data(),
                         .ldz = across};
            call.x_type = dtype_of<X>;
            if (is_complex(op)) call.alpha_imaginary = call.beta_imaginary = 0.3f;
            throw_if_failed(executor.map(executor.default_queue(), call));
            return on_z.read();
          }};
}

template <class T>
Task fill(const char* name, Distribution distribution, double low, double high) {
  const std::vector<T> zeros(elements, T(0));
  return {std::string(name) + " " + std::string(to_string(dtype_of<T>)), [=](Executor& executor) {
            const Buffer on_z(executor, zeros);
            throw_if_failed(executor.random(
                executor.default_queue(), {distribution, dtype_of<T>, rows, cols, on_z.data(), cols, 7, low, high, 0}));
            return on_z.read();
          }};
}

void add_products(std::vector<Task>& all) {
  for (const Shape& shape : shapes) {
    all.push_back(product<float>(shape, {"ordinary", -3, 3, 0, 0.7f, -0.3f}));
    all.push_back(product<float>(shape, {"subnormal", -75, -62, -140, 1.5, -0.75}));
    all.push_back(product<float>(shape, {"too large", 60, 66, 120, 1, 1, true}));
    all.push_back(product<float>(shape, {"subnormal factors", 45, 55, 10, 0x1p-140, 0x1p-145}));
    all.push_back(product<double>(shape, {"ordinary", -3, 3, 0, 0.7, -0.3}));
    all.push_back(product<double>(shape, {"subnormal", -538, -525, -1060, 1.5, -0.75}));
    all.push_back(product<f16>(shape, {"subnormal", -14, -8, -18, 1.5, -0.75}));
    all.push_back(product<bf16>(shape, {"subnormal", -75, -62, -130, 1.5, -0.75}));
    all.push_back(product<float, f16>(shape, {"ordinary", -14, -3, -5, 0.7f, -0.3f}));
    all.push_back(product<float>(shape, {"ordinary", -4, 2, 0, 0.7f, -0.3f}, true));
    all.push_back(product<double>(shape, {"subnormal", -538, -525, -1060, 1.5, -0.75}, true));
  }
  all.push_back(product<float>({130, 150, 0}, {"only beta", 0, 0, -128, 1.0, 0.3f}));
  all.push_back(batch<float>(200, {"subnormal", -75, -62, -140, 1.5, -0.75}));
  all.push_back(batch<float>(200, {"ordinary", -3, 3, 0, 0.7f, -0.3f}));
  all.push_back(batch<double>(200, {"subnormal", -538, -525, -1060, 1.5, -0.75}));
  all.push_back(complex_product<float>({"subnormal", -75, -62, -140, 1.5, -0.75}, 0.3f));
  all.push_back(complex_product<float>({"ordinary", -3, 3, 0, 0.7f, -0.3f}, 0));
  all.push_back(complex_product<double>({"subnormal", -538, -525, -1060, 1.5, -0.75}, 0.3));
}

void add_others(std::vector<Task>& all) {
  all.push_back(reduction<float>("sum of squares", ReduceOp::SumOfSquares, -70, 10));
  all.push_back(reduction<double>("sum of squares", ReduceOp::SumOfSquares, -538, -530));
  all.push_back(reduction<double>("sum of magnitudes", ReduceOp::SumAbs, -4, 4));
  all.push_back(reduction<float>("largest magnitude", ReduceOp::MaxAbs, -140, -135));
  all.push_back(reduction<double>("largest magnitude", ReduceOp::MaxAbs, -1060, -1050));
  all.push_back(element_wise<float>("axpby", MapOp::Axpby, 0.7f, -0.3f, -140, -126));
  all.push_back(element_wise<double>("axpby", MapOp::Axpby, 0.7, -0.3, -3, 3));
  all.push_back(element_wise<f16>("axpby", MapOp::Axpby, 0.7f, -0.3f, -20, -12));
  all.push_back(element_wise<float>("scale", MapOp::Scale, 0.7f, 0, -140, -126));
  all.push_back(element_wise<float>("scale by a subnormal number", MapOp::Scale, 0x1p-140, 0, 100, 120));
  all.push_back(element_wise<float>("fill with a subnormal number", MapOp::Fill, 0x1p-140, 0, 0, 0));
  all.push_back(element_wise<double>("multiply", MapOp::Multiply, 1, 1, -538, -525));
  all.push_back(element_wise<float, f16>("convert", MapOp::Convert, 1, 1, -26, -10));
  all.push_back(element_wise<double, float>("convert", MapOp::Convert, 1, 1, -150, -120));
  all.push_back(element_wise<float, double>("convert", MapOp::Convert, 1, 1, -149, -120));
  all.push_back(element_wise<bf16, f16>("convert", MapOp::Convert, 1, 1, -26, -10));
  all.push_back(element_wise<float>("combine complex", MapOp::CombineComplex, 0.7f, -0.3f, -140, -120));
  all.push_back(fill<float>("uniform", Distribution::Uniform, -0.1f, 0.3f));
  all.push_back(fill<double>("uniform", Distribution::Uniform, -0x1p-1030, 0x1p-1029));
  all.push_back(fill<float>("normal", Distribution::Normal, 0.1f, 0.3f));
  all.push_back(fill<double>("normal", Distribution::Normal, 0.1, 0.3));
  all.push_back(fill<f16>("normal", Distribution::Normal, 0, 0x1p-15));
  all.push_back(fill<float>("integers", Distribution::Integers, -1000, 1000));
  all.push_back(fill<float>("wide", Distribution::Wide, -126, 100));
  all.push_back(fill<double>("special", Distribution::Special, 0.1, 0.5));
}

} // namespace

Bytes SmallNumbers::multiply(Executor& executor) const {
  const Buffer a(executor, a_), b(executor, b_), c(executor, a_);
  throw_if_failed(executor.gemm(executor.default_queue(), {{.m = side,
                                                            .n = side,
                                                            .k = side,
                                                            .a = a.data(),
                                                            .lda = side,
                                                            .b = b.data(),
                                                            .ldb = side,
                                                            .c = c.data(),
                                                            .ldc = side}}));
  return c.read();
}

std::vector<Task> tasks() {
  std::vector<Task> all;
  add_products(all);
  add_others(all);
  return all;
}

} // namespace tessera::test
