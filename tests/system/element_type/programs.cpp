/// The sources of gemm_compare and of the judge that know element types, compiled with the stand-in's entry.

#include "gemm_compare/linear_algebra/catalogue.cpp"
#include "gemm_compare/options/type_words.cpp"
#include "gemm_judge/child/entry.cpp"
