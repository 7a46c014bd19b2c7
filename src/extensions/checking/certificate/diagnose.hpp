#pragma once

/// Says what wrong elements look like.

#include "one_product.hpp"

namespace tessera::certificate {

/// Tests each diagnosis on wrong elements that the answer's comparisons found, and returns the diagnoses that hold for
/// all of these elements. The list is empty where no element is known to be wrong. A call computes about 64·k
/// multiplications.
template <class T>
std::vector<Finding> diagnose(const OneProduct<T>& product, const compare::ElementSource& c,
                              const typename OneProduct<T>::Answer& answer);

} // namespace tessera::certificate
