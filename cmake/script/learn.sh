# Builds the lessons' program and starts it. ./tessera sources this file.

# learn [ARGUMENTS...]: the lessons need the compiler at run time, too, which compiles a learner's file.
learn() {
  need_packages build
  choose_device_code lessons 2>/dev/null # so that the build is the one of ./tessera compare
  programs tessera_learn gemm_judge
  exec "$build/bin/tessera_learn" "$@"
}
