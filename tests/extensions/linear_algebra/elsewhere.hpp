#pragma once

/// Elements in the memory of the tested executor, and what is copied there and back.

#include <algorithm>
#include <cmath>
#include <limits>

#include <boost/test/unit_test.hpp>

#include <tessera/interop/executor_memory.hpp>

#include "core/tools/recorder.hpp"
#include "device_steps.hpp"
#include "systems.hpp"

namespace tessera::test {

/// Elements in the tested executor's memory, whose rows are `ld` apart. What lies between them is NaN.
template <class T>
class Elsewhere {
 public:
  Elsewhere(Index rows, Index cols) : rows_(rows), cols_(cols), ld_(cols + 3), host_(Matrix<T>(rows, ld_, nan)) {
    throw_if_failed(device().allocate(static_cast<std::size_t>(rows * ld_) * sizeof(T), memory_));
    put();
  }
  explicit Elsewhere(const Matrix<T>& from) : Elsewhere(from.rows(), from.cols()) {
    for (Index i = 0; i < rows_; ++i) std::ranges::copy(from.row(i), host_.row(i).begin());
    put();
  }
  ~Elsewhere() { device().free(memory_); }
  Elsewhere(const Elsewhere&) = delete;
  Elsewhere& operator=(const Elsewhere&) = delete;

  T* data() const { return static_cast<T*>(memory_); }
  Index ld() const { return ld_; }
  Matrix<T> matrix() const { return from_executor(device(), data(), rows_, cols_, ld_); }
  /// Reads the elements, and expects NaN between them.
  Matrix<T> read() {
    throw_if_failed(device().copy_out(device().default_queue(), host_.data(), pitch(host_.ld()), memory_, pitch(ld_),
                                      pitch(ld_), static_cast<std::size_t>(rows_)));
    for (Index i = 0; i < rows_; ++i)
      for (Index j = cols_; j < ld_; ++j) BOOST_TEST(std::isnan(std::real(host_(i, j))));
    return Matrix<T>(host_.block(0, 0, rows_, cols_));
  }

 private:
  static constexpr T nan = std::numeric_limits<Part<T>>::quiet_NaN();
  static std::size_t pitch(Index elements) { return static_cast<std::size_t>(elements) * sizeof(T); }
  void put() {
    throw_if_failed(device().copy_in(device().default_queue(), memory_, pitch(ld_), host_.data(), pitch(host_.ld()),
                                     pitch(ld_), static_cast<std::size_t>(rows_)));
  }

  Index rows_, cols_, ld_;
  Matrix<T> host_;
  void* memory_ = nullptr;
};

inline constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// Has the executor's memory room for the elements of a test, and for what is computed of them?
inline bool has_room(std::size_t bytes) {
  const Capabilities& facts = device().capabilities();
  return facts.host_memory || facts.memory_bytes >= bytes;
}

/// Returns the bytes of the copies of a kind.
inline double copied(Recorder& recorder, tools::Kind kind) {
  double bytes = 0;
  for (const Told& told : recorder.of(kind))
    if (!told.is_end) bytes += static_cast<double>(told.operation.bytes);
  return bytes;
}
/// Returns the bytes that went from the host to the device.
inline double brought(Recorder& recorder) { return copied(recorder, tools::Kind::CopyIn); }
/// Returns the bytes that went from the device to the host.
inline double fetched(Recorder& recorder) { return copied(recorder, tools::Kind::CopyOut); }

} // namespace tessera::test
