#pragma once

/// Numbers as people read them. A number that is not finite is unknown and becomes "–".

#include <string>

#include "entry.hpp"

namespace tessera::report {

std::string time_text(double seconds);      ///< "1.23 ms"
std::string speed_text(double gflops);      ///< "412 GFLOP/s", "51.3 TFLOP/s"
std::string speed_text(const Facts& facts); ///< of its speed(): also "24.1 GB/s", "2.91 TB/s"
std::string bandwidth_text(double gbytes);  ///< "24.1 GB/s", "2.91 TB/s"
std::string percent_text(double percent);   ///< "87 %", "0.4 %"
std::string factor_text(double factor);     ///< "×14"
std::string error_text(double error);       ///< "3.1e-07", "0"
std::string bound_text(double share);       ///< error ÷ bound; below 1 it never rounds to 1
std::string count_text(double count);       ///< "12 345"
/// A number from 0.001 to 10⁶ has at most three decimals and about three digits; any other has two and an exponent.
std::string number_text(double value);

/// The shape and what differs from a plain product: "1024³", "4096×16×4096, Aᵀ·B, alpha 2"; "65 536 elements" for a
/// reduction.
std::string product_text(const Entry& entry);

/// What reports write after the name of a kernel that keeps the contract of its mode, " ≡"; empty for other kernels.
std::string contract_mark(const Facts& facts);

/// The sizes of an operation of --op: "n = 1000", "m = 20, n = 30".
std::string sizes_text(const Facts& facts);

/// Half the distance from min to max, in percent of the median; unknown with fewer than two samples.
double spread_percent(const Entry& entry);

} // namespace tessera::report
