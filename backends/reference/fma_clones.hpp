#pragma once

/// A function with this attribute is compiled twice, for processors with FMA and for all others; the loader picks one
/// of the two. Without the attribute, std::fma is a library call on x86-64, because Tessera is not compiled for one
/// machine. The bits are equal. The target is a feature, because "arch=haswell" would be picked on a Haswell alone and
/// not on later processors.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TESSERA_FMA_CLONES __attribute__((target_clones("fma", "default")))
/// Does what TESSERA_FMA_CLONES does, and inlines all that the function calls: a call would leave the clone. Clang
/// takes only one of the two attributes; there such a call computes the same bits by the library's fma.
#ifdef __clang__
#define TESSERA_FLAT_FMA_CLONES TESSERA_FMA_CLONES
#else
#define TESSERA_FLAT_FMA_CLONES __attribute__((target_clones("fma", "default"), flatten))
#endif
/// Does what TESSERA_FMA_CLONES does, and adds a third version for processors with AVX-512.
#define TESSERA_WIDE_CLONES __attribute__((target_clones("avx512f", "fma", "default")))
/// For vectors of integers: FMA's processors may lack them, and AVX2's have them.
#define TESSERA_INTEGER_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
/// A function for processors with AVX-512 alone, whose callers ask __builtin_cpu_supports("avx512f") first.
#define TESSERA_AVX512 __attribute__((target("avx512f")))
#else
#define TESSERA_FMA_CLONES
#define TESSERA_FLAT_FMA_CLONES
#define TESSERA_WIDE_CLONES
#define TESSERA_INTEGER_CLONES
#endif
