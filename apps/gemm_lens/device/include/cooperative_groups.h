#error "the lens has no cooperative groups; use __syncthreads() and __syncwarp()"
