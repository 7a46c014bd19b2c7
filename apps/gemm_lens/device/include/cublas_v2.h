#error "the lens has no cuBLAS; it looks at kernels of your own"
