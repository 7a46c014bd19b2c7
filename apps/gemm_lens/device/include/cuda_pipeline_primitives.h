#pragma once

/// The lens' cuda_pipeline_primitives.h: copies to shared memory that a thread starts and waits for later.

#include "cuda_runtime_api.h"

__attribute__((always_inline)) inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes,
                                                                   std::size_t zeros = 0) {
  tessera::lens::start_copy(to, from, static_cast<unsigned>(bytes), static_cast<unsigned>(zeros));
}
inline void __pipeline_commit() { tessera::lens::commit_copies(); }
inline void __pipeline_wait_prior(std::size_t groups) { tessera::lens::wait_for_copies(static_cast<unsigned>(groups)); }
