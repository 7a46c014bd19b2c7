# R's own handler makes an error of an illegal argument of the BLAS.
dyn.load(commandArgs(TRUE)[1])
for (call in c("bad_gemm", "bad_trsm"))
  cat(call, ": ", tryCatch({ .C(call); "no error" }, error = function(e) conditionMessage(e)), "\n", sep = "")
