#pragma once

/// A function with this attribute is compiled twice: for processors with FMA, and for any. The loader picks one.
/// Without it std::fma is a library call on x86-64, for we do not compile for one machine. The bits are the same.
/// The target is a feature: "arch=haswell" would be picked on a Haswell alone, not on what came after it.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TESSERA_FMA_CLONES __attribute__((target_clones("fma", "default")))
#else
#define TESSERA_FMA_CLONES
#endif
