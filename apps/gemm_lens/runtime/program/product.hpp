#pragma once

/// The product that the kernel is asked for: its operands, and whether C is right.

#include <string>

#include <tessera/backend/kernel_abi.h>

namespace tessera::lens {

/// What the command line of the compiled program says.
struct Task {
  std::string report;
  bool f64 = false;
  long m = 0, n = 0, k = 0;
  bool trans_a = false, trans_b = false;
  double alpha = 1, beta = 0;
  long ld_pad = 0; ///< elements between rows; −1: rows end at whole cache lines of 64 bytes
  int seconds = 0;
};

class Product {
 public:
  /// Fills A, B and C with small whole numbers. Returns false if they are larger than the lens' memory.
  bool prepare(const Task& task);
  const tessera_kernel_call& call() const { return call_; }
  /// Compares C with a product in double precision and A and B with what they were. Returns an empty text if all is
  /// right, else what is wrong.
  std::string compare() const;

 private:
  template <class T>
  bool fill();
  template <class T>
  std::string compare_as() const;

  Task task_;
  tessera_kernel_call call_{};
};

} // namespace tessera::lens
