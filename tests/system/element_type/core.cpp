/// The sources of the core and of the C interface that know element types, compiled with the stand-in's entry.
/// The other sources are what the choice of a kernel needs.

#include "core/base/reentry.cpp"
#include "core/base/types.cpp"
#include "core/executor/kernel_choice.cpp"
#include "core/executor/tuning/tuned_kernels.cpp"
#include "core/gemm/check_gemm.cpp"
#include "core/tools/describe.cpp"
#include "core/tools/listeners.cpp"
//
#include "bindings/c/element_types.cpp"
