/** What a C program knows of the stand-in. */
#include <stdio.h>

#include <tessera/backend/kernel_abi.h>
#include <tessera/tessera.h>

int main(void) {
  const tessera_dtype type = TESSERA_STAND_IN;
  const tessera_checked_type checked = TESSERA_CHECKED_STAND_IN;
  printf("C: %d %d %d\n", (int)type, (int)checked, (int)TESSERA_KERNEL_F16E6);
  return 0;
}
