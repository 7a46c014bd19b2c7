#pragma once

/// Numbers as people read them. Unknown ones (not finite) are "–".

#include <string>

#include "document.hpp"

namespace tessera::report {

std::string time_text(double seconds);    ///< "1.23 ms"
std::string speed_text(double gflops);    ///< "412 GFLOP/s", "51.3 TFLOP/s"
std::string percent_text(double percent); ///< "87 %", "0.4 %"
std::string factor_text(double factor);   ///< "×14"
std::string error_text(double error);     ///< "3.1e-07", "0"
std::string bound_text(double share);     ///< error ÷ bound; below 1 it never rounds to 1
std::string count_text(double count);     ///< "12 345"
/// Three significant digits, without an exponent where that is shorter.
std::string number_text(double value);

/// "1024³", "4096×16×4096", with what differs from a plain product: "Aᵀ", "alpha 2"; of a reduction: "65 536 elements".
std::string product_text(const Row& row);

/// ± half the width from min to max, of the median, in percent; unknown with fewer than two samples.
double spread_percent(const Row& row);

} // namespace tessera::report
