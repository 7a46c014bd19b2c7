/// Batches with strides, with pointers, and of groups with unlike shapes: they have the bits of the reference's single
/// products, and nothing but elements of C changes.

#include <boost/test/unit_test.hpp>

#include <tessera/performance/tuning.hpp>

#include "guarded.hpp"
#include "shapes.hpp"
#include "support/every_test.hpp"
#include "support/subject.hpp"

namespace tessera::conformance {
namespace {

/// The layout of a group's operands in memory.
struct Layout {
  bool pointers = false;
  bool shared_a = false;
  Index padding = 0; ///< ld − columns
  Index gap = 0;     ///< elements between the matrices of neighbouring products
};

struct Numbers {
  Index m, n, k;
  Op op_a = Op::None, op_b = Op::None;
  double alpha = 1, beta = 0;
  int threads = 0;
  Math math = Math::Strict;
};

/// `count` matrices in one allocation of the executor. All elements between them are NaN.
template <class T>
class Stack {
 public:
  Stack(Executor& executor, Index rows, Index cols, Index count, const Layout& layout)
      : executor_(executor),
        rows_(rows),
        cols_(cols),
        ld_(std::max<Index>(cols + layout.padding, 1)),
        stride_(rows * ld_ + layout.gap),
        count_(count),
        image_(static_cast<std::size_t>(stride_ * count + guard), sentinel<T>()) {
    throw_if_failed(executor.allocate(bytes(), memory_));
  }
  ~Stack() { executor_.free(memory_); }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  Index ld() const { return ld_; }
  Index stride() const { return stride_; }
  T* at(Index i) const { return static_cast<T*>(memory_) + i * stride_; }
  T* host(Index i) { return image_.data() + i * stride_; }

  void fill(int seed) {
    std::uint64_t e = 0;
    for (Index i = 0; i < count_; ++i)
      for (Index row = 0; row < rows_; ++row)
        for (Index col = 0; col < cols_; ++col)
          host(i)[row * ld_ + col] = uniform<T>(static_cast<std::uint64_t>(seed), e++);
  }
  void upload() { throw_if_failed(executor_.copy_in(queue(), memory_, bytes(), image_.data(), bytes(), bytes(), 1)); }
  /// Returns how many elements of the executor's memory differ from the image.
  int differing() {
    std::vector<T> now(image_.size());
    throw_if_failed(executor_.copy_out(queue(), now.data(), bytes(), memory_, bytes(), bytes(), 1));
    int count = 0;
    for (std::size_t e = 0; e < now.size(); ++e) count += bits(now[e]) == bits(image_[e]) ? 0 : 1;
    return count;
  }

 private:
  static constexpr Index guard = 64;
  std::size_t bytes() const { return image_.size() * sizeof(T); }
  Queue& queue() { return executor_.default_queue(); }

  Executor& executor_;
  Index rows_, cols_, ld_, stride_, count_;
  std::vector<T> image_;
  void* memory_ = nullptr;
};

class AnyGroup {
 public:
  virtual ~AnyGroup() = default;
  virtual GemmBatch batch() = 0;
  virtual void check(const std::string& what) = 0;
};

template <class T, class R = T>
class Group final : public AnyGroup {
 public:
  Group(const Numbers& x, Index count, const Layout& layout)
      : x_(x),
        count_(count),
        layout_(layout),
        a_(subject(), x.op_a == Op::None ? x.m : x.k, x.op_a == Op::None ? x.k : x.m, layout.shared_a ? 1 : count,
           layout),
        b_(subject(), x.op_b == Op::None ? x.k : x.n, x.op_b == Op::None ? x.n : x.k, count, layout),
        c_(subject(), x.m, x.n, count, layout) {
    if (x.alpha != 0) { // else A and B are not read, and stay NaN
      a_.fill(71);
      b_.fill(72);
    }
    if (x.beta != 0) c_.fill(73);
    a_.upload();
    b_.upload();
    c_.upload();
    for (Index i = 0; i < count; ++i) { // pointers list the last products first
      pointers_a_.push_back(a_.at(layout.shared_a ? 0 : count - 1 - i));
      pointers_b_.push_back(b_.at(count - 1 - i));
      pointers_c_.push_back(c_.at(count - 1 - i));
    }
  }

  GemmBatch batch() override {
    GemmBatch batch{.call = call(a_.at(0), b_.at(0), c_.at(0)), .count = count_};
    if (layout_.pointers) {
      batch.call.a = batch.call.b = batch.call.c = nullptr;
      batch.a = pointers_a_.data();
      batch.b = pointers_b_.data();
      batch.c = pointers_c_.data();
    } else {
      batch.stride_a = layout_.shared_a ? 0 : a_.stride();
      batch.stride_b = b_.stride();
      batch.stride_c = c_.stride();
    }
    return batch;
  }

  void check(const std::string& what) override {
    for (Index i = 0; i < count_; ++i) {
      const GemmCall one = call(a_.host(layout_.shared_a ? 0 : i), b_.host(i), c_.host(i));
      const char* const kernel = x_.math == Math::Strict ? "canonical" : "hopper_units";
      throw_if_failed(reference().gemm(reference().default_queue(), one, kernel));
    }
    const int wrong_a = a_.differing(), wrong_b = b_.differing(), wrong_c = c_.differing();
    BOOST_TEST(wrong_a == 0, what << ": A has changed");
    BOOST_TEST(wrong_b == 0, what << ": B has changed");
    BOOST_TEST(wrong_c == 0, what << ": " << wrong_c << " elements in or beside the results are wrong: "
                                  << to_string(dtype_of<T>) << ' ' << x_.m << "×" << x_.n << "×" << x_.k << ' '
                                  << to_string(x_.op_a) << ' ' << to_string(x_.op_b) << " alpha=" << x_.alpha
                                  << " beta=" << x_.beta << " count=" << count_ << " pointers=" << layout_.pointers
                                  << " shared_a=" << layout_.shared_a << " threads=" << x_.threads);
  }

 private:
  GemmCall call(const T* a, const T* b, R* c) const {
    return {{.type = dtype_of<T>,
             .math = x_.math,
             .op_a = x_.op_a,
             .op_b = x_.op_b,
             .m = x_.m,
             .n = x_.n,
             .k = x_.k,
             .alpha = x_.alpha,
             .a = a,
             .lda = a_.ld(),
             .b = b,
             .ldb = b_.ld(),
             .beta = x_.beta,
             .c = c,
             .ldc = c_.ld(),
             .threads = x_.threads},
            dtype_of<R>};
  }

  Numbers x_;
  Index count_;
  Layout layout_;
  Stack<T> a_, b_;
  Stack<R> c_;
  std::vector<const void*> pointers_a_, pointers_b_;
  std::vector<void*> pointers_c_;
};

using Groups = std::vector<std::unique_ptr<AnyGroup>>;

void run(const Groups& groups, const std::string& what, std::string_view kernel = {}) {
  std::vector<GemmBatch> batches;
  for (const auto& group : groups) batches.push_back(group->batch());
  Queue& queue = subject().default_queue();
  Status status = subject().gemm_batch(queue, batches, kernel);
  for (GemmBatch& batch : batches) batch = {}; // the array need not outlive the call
  if (status.ok()) status = queue.synchronize();
  BOOST_TEST(status.ok(), what << ": " << status.why);
  for (const auto& group : groups) group->check(what);
}

template <class T, class R = T>
void run_one(const Numbers& x, Index count, const Layout& layout) {
  Groups groups;
  groups.push_back(std::make_unique<Group<T, R>>(x, count, layout));
  run(groups, "one group");
}

constexpr Layout layouts[]{{}, {.padding = 3, .gap = 5}, {.pointers = true, .padding = 1}, {.shared_a = true}};

std::vector<Numbers> shapes_of_batches() {
  std::vector<Numbers> all{{1, 1, 1}, {16, 16, 16}, {3, 17, 9}, {33, 5, 40}, {70, 40, 34}, {7, 9, 1030}};
  if (!options().quick) all.insert(all.end(), {{64, 64, 64}, {32, 32, 32}, {8, 8, 8}, {130, 129, 65}, {19, 31, 2050}});
  return all;
}

} // namespace

BOOST_AUTO_TEST_SUITE(batch)

BOOST_AUTO_TEST_CASE_TEMPLATE(strides_and_pointers_have_the_bits_of_single_products, T, ElementTypes) {
  for (const Numbers& shape : shapes_of_batches())
    for (const Op op_a : {Op::None, Op::Transpose})
      for (const Op op_b : {Op::None, Op::Transpose})
        for (const Layout& layout : layouts) {
          Numbers x = shape;
          x.op_a = op_a;
          x.op_b = op_b;
          run_one<T>(x, x.m * x.n * x.k > 40000 ? 2 : 5, layout);
        }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(every_alpha_and_beta, T, ElementTypes) {
  for (const double alpha : {0.0, 1.0, -1.5})
    for (const double beta : {0.0, 1.0, 0.75}) {
      run_one<T>({16, 16, 16, Op::None, Op::None, alpha, beta}, 7, {.padding = 2});
      run_one<T>({5, 9, 1100, Op::None, Op::Transpose, alpha, beta}, 3, {.pointers = true});
      run_one<T>({40, 36, 8, Op::Transpose, Op::None, alpha, beta}, 4, {.gap = 1});
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(products_without_work, T, ElementTypes) {
  for (const double beta : {0.0, 1.0, -2.0}) {
    run_one<T>({4, 5, 0, Op::None, Op::None, 1, beta}, 3, {.gap = 2});
    run_one<T>({0, 5, 6, Op::None, Op::None, 1, beta}, 3, {});
    run_one<T>({4, 0, 6, Op::None, Op::None, 1, beta}, 3, {});
    run_one<T>({4, 5, 6, Op::None, Op::None, 1, beta}, 0, {});
  }
  run({}, "no groups");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(any_number_of_threads, T, ElementTypes) {
  for (const int threads : {1, 2, 7}) {
    run_one<T>({16, 16, 16, Op::None, Op::None, 1, 0, threads}, options().quick ? 30 : 300, {});
    run_one<T>({9, 20, 30, Op::None, Op::Transpose, 1, 0.5, threads}, 11, {.pointers = true});
    run_one<T>({96, 96, 96, Op::None, Op::None, 1, 0, threads}, 3, {});
  }
}

/// Small groups stand beside large ones, with and without pointers; one group has no products and one has k = 0.
BOOST_AUTO_TEST_CASE_TEMPLATE(groups_of_unlike_shapes, T, ElementTypes) {
  for (const int threads : {0, 1, 2, 7}) {
    Groups groups;
    const auto add = [&](Numbers x, Index count, const Layout& layout) {
      x.threads = threads;
      groups.push_back(std::make_unique<Group<T>>(x, count, layout));
    };
    add({16, 16, 16}, 20, {});
    add({3, 4, 5, Op::Transpose, Op::None, 2, 1}, 1, {.pointers = true});
    add({2, 2, 2}, 0, {});
    add({100, 90, 80}, 2, {.padding = 1});
    add({6, 6, 0, Op::None, Op::None, 1, 0.5}, 2, {});
    add({1, 50, 1500, Op::None, Op::Transpose}, 3, {.pointers = true, .shared_a = true});
    add({33, 1, 7, Op::Transpose, Op::Transpose, -1, 0}, 9, {.gap = 7});
    run(groups, "groups, " + std::to_string(threads) + " threads");
  }
}

/// There are more groups than a device's kernel takes as arguments.
BOOST_AUTO_TEST_CASE_TEMPLATE(many_groups, T, ElementTypes) {
  Groups groups;
  for (Index g = 0; g < 40; ++g) {
    const Numbers x{1 + g % 7, 2 + g % 5,           1 + g, g % 2 == 0 ? Op::None : Op::Transpose, Op::None,
                    1,         g % 4 == 0 ? 1. : 0.};
    groups.push_back(std::make_unique<Group<T>>(x, 1 + g % 3, Layout{.pointers = g % 3 == 0}));
  }
  run(groups, "40 groups");
}

BOOST_AUTO_TEST_CASE(operands_of_16_bits) {
  for (const Layout& layout : layouts)
    for (const double beta : {0.0, 0.5}) {
      run_one<f16>({16, 17, 20, Op::None, Op::Transpose, 1.5, beta}, 3, layout);
      run_one<f16, float>({16, 17, 20, Op::Transpose, Op::None, 1, beta}, 3, layout);
      run_one<bf16>({5, 33, 1030, Op::None, Op::None, 1, beta}, 2, layout);
      run_one<bf16, float>({40, 8, 9, Op::Transpose, Op::Transpose, 1, beta}, 3, layout);
    }
}

/// Adds groups of T in `math` with results of T and of f32: tiles of all sizes, one segment of k and several.
template <class T>
void add_groups_on_matrix_units(Math math, Groups& groups) {
  const Capabilities& machine = subject().capabilities();
  if (!machine.host_memory && !promises_bits(subject().gemm_kernels(), machine, dtype_of<T>, math)) return;
  const bool fewer = options().quick && !test::everything_is_tested(); // one beta for each layout, in turns
  bool adds_to_c = false;
  for (const Layout& layout : layouts) {
    adds_to_c = !adds_to_c;
    for (const double beta : {0.0, 0.5}) {
      if (fewer && (beta != 0) != adds_to_c) continue;
      const auto add = [&]<class R>(Numbers x, Index count) {
        x.math = math;
        x.beta = beta;
        groups.push_back(std::make_unique<Group<T, R>>(x, count, layout));
      };
      add.template operator()<T>({16, 17, 20, Op::None, Op::Transpose, 1.5}, 3);
      add.template operator()<float>({64, 64, 64, Op::None, Op::None}, fewer ? 2 : 5);
      add.template operator()<float>({65, 130, 70, Op::Transpose, Op::None}, 2);
      add.template operator()<T>({130, 3, 33, Op::Transpose, Op::Transpose, -1}, 3);
      add.template operator()<T>({5, 33, 2050, Op::None, Op::None}, 2);
      if (!options().quick) add.template operator()<float>({3, 70, 6200, Op::None, Op::Transpose}, 2);
    }
  }
}

BOOST_AUTO_TEST_CASE(groups_on_matrix_units) {
  Groups groups;
  add_groups_on_matrix_units<bf16>(Math::Bf16, groups);
  add_groups_on_matrix_units<f16>(Math::Fp16, groups);
  add_groups_on_matrix_units<float>(Math::Tf32, groups);
  const bool on_host = subject().capabilities().host_memory; // a host has the bits of matrix units only if asked to
  if (!on_host) groups.push_back(std::make_unique<Group<bf16>>(Numbers{40, 41, 42}, 3, Layout{})); // in mode strict
  run(groups, "groups on matrix units", on_host ? "hopper_units" : "");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_kernel_that_is_named_runs, T, ElementTypes) {
  for (const GemmKernel& kernel : subject().gemm_kernels()) {
    if (kernel.type != dtype_of<T> || kernel.math != Math::Strict || kernel.summation != Summation::Canonical) continue;
    if (kernel.reject != nullptr) continue; // the kernel may have a reason to reject
    Groups groups;
    groups.push_back(std::make_unique<Group<T>>(Numbers{5, 6, 7}, 2, Layout{}));
    groups.push_back(std::make_unique<Group<T>>(Numbers{3, 4, 8}, 2, Layout{.pointers = true}));
    run(groups, kernel.name, kernel.name);
  }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::conformance
