/* Which backend serves C calls that leave it to TESSERA_AUTO. Arguments: the backend's name, a part of the other
 * runtime's file names, which must not be in the process, and how the backend is named: `named` by the first product,
 * or `variable` by TESSERA_BACKEND. With `refused` TESSERA_BACKEND is no backend, and the calls must say so. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <tessera/tessera.h>

#define SIDE 96

static int failures = 0;

static void check(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "not true: %s; the last error: %s\n", what, tessera_last_error());
  ++failures;
}

static int is_loaded(const char* part) {
  char line[4096];
  int found = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  if (maps == NULL) return 0;
  while (fgets(line, sizeof line, maps) != NULL) found |= strstr(line, part) != NULL;
  fclose(maps);
  return found;
}

static tessera_status multiply(const tessera_options* options) {
  static float a[SIDE * SIDE], c[SIDE * SIDE];
  for (int i = 0; i < SIDE * SIDE; ++i) a[i] = (float)(i % 7);
  return tessera_gemm_f32(TESSERA_NONE, TESSERA_NONE, SIDE, SIDE, SIDE, 1, a, SIDE, a, SIDE, 0, c, SIDE, options);
}

static void everything_works(void) {
  float a[32] = {1, 2, 3, 4}, c[32];
  const float one[2] = {1, 0}, zero[2] = {0, 0};
  check(multiply(NULL) == TESSERA_OK, "a product");
  check(tessera_gemm_complex_f32(TESSERA_NONE, TESSERA_NONE, 4, 4, 4, one, a, 4, a, 4, zero, c, 4, NULL) == TESSERA_OK,
        "a complex product");
  check(tessera_gemm_strided_batch_f32(TESSERA_NONE, TESSERA_NONE, 2, 2, 2, 1, a, 2, 4, a, 2, 4, 0, c, 2, 4, 8, NULL) ==
            TESSERA_OK,
        "a batch");
}

static int refused(void) {
  tessera_executor* executor = NULL;
  check(multiply(NULL) == TESSERA_INVALID_ARGUMENT, "a product is refused");
  check(strstr(tessera_last_error(), "TESSERA_BACKEND=") != NULL, "the text names the variable");
  check(strstr(tessera_last_error(), "auto reference openmp tbb cuda") != NULL, "the text has the known words");
  check(tessera_get_executor(TESSERA_AUTO, &executor) == TESSERA_INVALID_ARGUMENT, "an executor is refused");
  return failures != 0;
}

int main(int count, char** words) {
  if (count != 4) return 2;
  if (strcmp(words[3], "refused") == 0) return refused();
  tessera_options options = tessera_default_options();
  check(tessera_find_backend(words[1], &options.backend) == TESSERA_OK, "the backend is known");
  if (strcmp(words[3], "named") == 0) check(multiply(&options) == TESSERA_OK, "a product on the named backend");
  everything_works();
  tessera_executor* executor = NULL;
  check(tessera_get_executor(TESSERA_AUTO, &executor) == TESSERA_OK, "there is an executor");
  check(tessera_executor_backend(executor) == options.backend, "the backend serves TESSERA_AUTO");
  check(is_loaded("libtessera_"), "the process shows what it has loaded");
  check(!is_loaded(words[2]), "the other runtime is not in the process");
  /* A question is not a choice. */
  check(tessera_backend_available(TESSERA_OPENMP) == TESSERA_OK, "OpenMP is there");
  check(tessera_get_executor(TESSERA_AUTO, &executor) == TESSERA_OK, "there is an executor still");
  check(tessera_executor_backend(executor) == options.backend, "the backend serves TESSERA_AUTO still");
  return failures != 0;
}
