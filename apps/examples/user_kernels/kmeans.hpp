#pragma once

/// The assignment of k-means: for each point the nearest centre, and the squared distance to it.

#include <tessera/user_kernel/user_kernel.hpp>

struct Assign {
  static constexpr char name[] = "kmeans_assign";
  tessera::In<float> points;  ///< a point a row
  tessera::In<float> centres; ///< a centre a row
  tessera::Out<float> nearest;
  tessera::Out<double> distance;
  TESSERA_FN void operator()(tessera::Index i) const {
    tessera::Index best = 0;
    double least = __builtin_huge_val();
    for (tessera::Index c = 0; c < centres.rows(); ++c) {
      double squares = 0;
      for (tessera::Index d = 0; d < centres.cols(); ++d) {
        const double difference = double(points(i, d)) - centres(c, d);
        squares = tessera::fma(difference, difference, squares);
      }
      if (squares < least) {
        least = squares;
        best = c;
      }
    }
    nearest(i) = static_cast<float>(best);
    distance(i) = least;
  }
};

struct Distance {
  static constexpr char name[] = "kmeans_distance";
  tessera::In<double> distance;
  TESSERA_FN double operator()(tessera::Index i) const { return distance(i); }
};
