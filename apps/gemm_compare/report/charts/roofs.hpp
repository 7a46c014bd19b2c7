#pragma once

/// The measured ceilings of the machine, as the roofline shows them.

#include <string>
#include <vector>

#include "report/document.hpp"
#include "report/grouping.hpp"

namespace tessera::report {

/// Operations per byte if each operand is moved once.
double intensity(const Entry& entry);

/// The ceiling that an entry was compared with, in the unit of its speed(). The entry must have a percentage.
inline double ceiling_of(const Entry& entry) { return 100 * entry.speed() / entry.ceiling_percent; }

struct Roof {
  std::vector<std::string> maths; ///< the modes that share the roof
  int threads = 0;
  double peak = 0;      ///< GFLOP/s
  double bandwidth = 0; ///< of memory, GB/s; 0 where it is not known
  double at(double x) const;
};

struct CacheSlope {
  std::string name;     ///< "L2"
  double bandwidth = 0; ///< GB/s, with the most threads that were measured
};

struct Roofs {
  std::vector<Roof> roofs;        ///< lowest first; roofs within a tenth of each other are one
  std::vector<CacheSlope> caches; ///< nearest first; empty in documents of versions that did not measure them
};

/// Returns the roofs for a group of entries of one type and place. They come from the document's ceilings. Where it has
/// none, they come from the entries: speed ÷ percentage is the ceiling at the entry's intensity, the largest ceiling is
/// the peak, and ceilings below it lie on the slope of the bandwidth.
Roofs roofs_of(const EntryGroup& group, const Run& run);

} // namespace tessera::report
