#pragma once

/// The contract's sums of products as code, term by term: chains of multiply-adds within segments of k.

#include "numbers.hpp"

namespace tessera::linear_algebra {

/// Numbers that lie `step` apart, or their conjugates.
template <class T>
struct Run {
  const T* data = nullptr;
  Index step = 1;
  bool conjugate = false;

  T at(Index k) const { return conjugated_if(conjugate, data[k * step]); }
  Run from(Index k) const { return {data + k * step, step, conjugate}; }
};

/// Returns the chain that goes on with a(k)·b(k) for k = 0 … count − 1.
float extend_chain(float chain, Index count, Run<float> a, Run<float> b);
double extend_chain(double chain, Index count, Run<double> a, Run<double> b);
std::complex<float> extend_chain(std::complex<float> chain, Index count, Run<std::complex<float>> a,
                                 Run<std::complex<float>> b);
std::complex<double> extend_chain(std::complex<double> chain, Index count, Run<std::complex<double>> a,
                                  Run<std::complex<double>> b);

/// A sum whose terms come in ascending k. A segment's sum is a chain that begins with +0, and the segments' sums are
/// added in ascending order.
template <class T>
class OrderedSum {
 public:
  /// The sum goes on with a(i)·b(i), i = 0 … count − 1, which are the terms from k = `first` on.
  void add(Index first, Index count, Run<T> a, Run<T> b) {
    for (Index done = 0; done < count;) {
      const Index left = segment_length<T> - (first + done) % segment_length<T>, here = std::min(left, count - done);
      chain_ = extend_chain(chain_, here, a.from(done), b.from(done));
      is_open_ = true;
      done += here;
      if (here == left) close();
    }
  }
  /// The sum goes on with 1·b, which is the term of k.
  void add_one(Index k, T b) {
    chain_ += b;
    is_open_ = true;
    if ((k + 1) % segment_length<T> == 0) close();
  }
  T value() {
    if (is_open_) close();
    return sum_;
  }

 private:
  void close() {
    sum_ = has_sum_ ? sum_ + chain_ : chain_;
    has_sum_ = true;
    chain_ = 0;
    is_open_ = false;
  }

  T sum_ = 0, chain_ = 0;
  bool has_sum_ = false, is_open_ = false;
};

} // namespace tessera::linear_algebra
