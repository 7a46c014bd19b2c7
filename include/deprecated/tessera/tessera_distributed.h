/* The name until 0.2 of <tessera/distributed/tessera_distributed.h>. */
#ifndef TESSERA_DEPRECATED_TESSERA_DISTRIBUTED_H
#define TESSERA_DEPRECATED_TESSERA_DISTRIBUTED_H
#include <tessera/distributed/tessera_distributed.h>
#endif
