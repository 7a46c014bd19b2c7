#pragma once

/// Collects products that are given one by one into the groups of a batch: products of one shape that follow one
/// another make a group.

#include <vector>

#include <tessera/batch.hpp>

namespace tessera::detail {

class PointerGroups {
 public:
  /// Adds a product. The pointers in `shape` are not read; a, b and c take their place.
  void add(const GemmCall& shape, const void* a, const void* b, void* c) {
    if (groups_.empty() || !is_like(groups_.back().shape, shape)) groups_.push_back({shape, {}, {}, {}});
    groups_.back().a.push_back(a);
    groups_.back().b.push_back(b);
    groups_.back().c.push_back(c);
  }

  /// Returns the groups, which point into this object.
  std::vector<GemmBatch> batches() const {
    std::vector<GemmBatch> all;
    all.reserve(groups_.size());
    for (const Group& group : groups_) {
      GemmBatch batch{.call = group.shape, .count = static_cast<Index>(group.c.size())};
      batch.a = group.a.data();
      batch.b = group.b.data();
      batch.c = group.c.data();
      all.push_back(batch);
    }
    return all;
  }

 private:
  struct Group {
    GemmCall shape;
    std::vector<const void*> a, b;
    std::vector<void*> c;
  };

  static bool is_like(const GemmCall& x, const GemmCall& y) {
    return x.m == y.m && x.n == y.n && x.k == y.k && x.lda == y.lda && x.ldb == y.ldb && x.ldc == y.ldc &&
           x.op_a == y.op_a && x.op_b == y.op_b && x.type == y.type && x.result == y.result;
  }

  std::vector<Group> groups_;
};

} // namespace tessera::detail
