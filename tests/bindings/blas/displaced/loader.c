/* Loads libraries that are linked with a BLAS each, for themselves alone, as Python loads its modules, and runs their
 * calls in turn. With `unload` a library is unloaded before the next one comes, maybe to the same addresses. With
 * `stranger` the program, which is linked with no BLAS, calls dgemm_ while libraries of either width are loaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef void gemm(const char*, const char*, const int64_t*, const int64_t*, const int64_t*, const double*,
                  const double*, const int64_t*, const double*, const int64_t*, const double*, double*, const int64_t*);

static void call_as_stranger(void) {
  gemm* const dgemm = (gemm*)dlsym(RTLD_DEFAULT, "dgemm_");
  const int64_t n = 1;
  const double one = 1;
  double c = 0;
  if (dgemm != NULL) dgemm("N", "N", &n, &n, &n, &one, &one, &n, &one, &n, &one, &c, &n);
  puts("the program went on");
}

int main(int count, char** arguments) {
  const int unload = count > 1 && strcmp(arguments[1], "unload") == 0;
  int failures = 0;
  for (int round = 0; round < 2; ++round)
    for (int i = 2; i < count; ++i) {
      void* const library = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
      int (*const calls)(void) = library == NULL ? NULL : (int (*)(void))dlsym(library, "calls");
      if (calls == NULL) {
        puts(dlerror());
        return 99;
      }
      const int failed = calls();
      if (failed != 0) printf("%s, round %d: %d failures\n", arguments[i], round, failed);
      failures += failed;
      if (unload) dlclose(library);
    }
  if (count > 1 && strcmp(arguments[1], "stranger") == 0) call_as_stranger();
  if (failures == 0) puts("all is as without the drop-in");
  return failures;
}
