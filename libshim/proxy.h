/* proxy.h - operators that a model calls through the proxy executor, since they have no C function in torch: all by overload name
 * (aten/aten.h).
 *
 * The runner opens the executor from the package's list, which reports missing operators before anything runs, and gives it
 * to the model:
 *
 *     void *executor = shim_proxy_open(json, n, why, sizeof(why));   // NULL: why names what is missing
 *     AOTInductorModelContainerRun(..., executor);
 *     shim_proxy_close(executor);
 */
#ifndef PT2_SHIM_PROXY_H
#define PT2_SHIM_PROXY_H
#include "model/package/externnodes.h"
#include "shim.h"

#include <complex.h>

void *shim_proxy_open(const char *json, size_t n, char *why, size_t room);
void shim_proxy_close(void *executor);

#endif
