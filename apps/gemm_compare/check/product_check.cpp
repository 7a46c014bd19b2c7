#include "product_check.hpp"

#include <algorithm>

#include <tessera/backend.hpp>

namespace tessera::compare_app {
namespace {

/// The reference computes at most this many products of elements. For larger matrix products it checks sampled rows.
constexpr double reference_products = 9e9;
/// Products of elements per second and thread that the reference computes in f64. In f32 it computes twice as many.
constexpr double reference_rate = 1e9;
/// The reference computes at least this many products of elements, however short the race was: all of 512³.
constexpr double always_referenced = 512.0 * 512 * 512;
constexpr Index least_rows_checked = 16;

} // namespace

ProductCheck::ProductCheck(const GemmCall& call, const Options& options, Progress& progress)
    : call_(call), options_(options), progress_(progress) {}

ProductCheck::Findings ProductCheck::check(const void* c, Index ldc, const Arithmetic& arithmetic) {
  Findings findings{reference(arithmetic).compare(c, ldc, arithmetic), {}};
  if (findings.error.rows_compared < findings.error.rows) findings.freivalds = freivalds().check(c, ldc, arithmetic);
  return findings;
}

/// Makes the reference on the first call, which comes after the first kernel has run, so that its cost does not delay
/// the start. Adds the bits of the kernel's contract where it is not the strict one.
const GemmReference& ProductCheck::reference(const Arithmetic& arithmetic) {
  if (!reference_) {
    progress_.show("reference");
    const double row = std::max(1.0, static_cast<double>(call_.n) * static_cast<double>(call_.k));
    const double in_the_races_time = race_seconds_ * default_threads() * reference_rate;
    const double products = std::clamp(in_the_races_time, always_referenced, reference_products);
    const Index affordable = std::max(least_rows_checked, static_cast<Index>(std::min(products / row, 1e15)));
    const Index rows = options_.check_rows > 0 ? options_.check_rows : affordable;
    reference_ = std::make_unique<GemmReference>(call_, sample_rows(call_.m, rows, options_.seed));
  }
  if (has_contract_of_mode(arithmetic.summation)) {
    GemmCall call = call_;
    call.math = arithmetic.math;
    reference_->add_bits(call);
  }
  return *reference_;
}

const FreivaldsCheck& ProductCheck::freivalds() {
  if (!freivalds_) freivalds_ = std::make_unique<FreivaldsCheck>(call_, options_.seed);
  return *freivalds_;
}

} // namespace tessera::compare_app
