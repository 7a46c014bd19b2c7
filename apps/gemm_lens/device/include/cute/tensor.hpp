#error "the lens has no CUTLASS"
