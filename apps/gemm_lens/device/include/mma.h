#error "the lens has no matrix units (wmma), which no processor has; use ncu on a GPU"
