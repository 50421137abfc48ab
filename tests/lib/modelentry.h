/* modelentry.h - what every compiled model exports, for a fake model: no outputs, no weights. The file that includes this defines its Run, its
 * number of inputs and the text of its errors. */
#ifndef PT2_TESTS_MODELENTRY_H
#define PT2_TESTS_MODELENTRY_H
#include <stddef.h>
#include <stdint.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static char container[8];

int32_t AOTInductorModelContainerCreateWithDevice(void **c, size_t n, const char *device, const char *dir)
{
	(void)n, (void)device, (void)dir;
	return *c = container, 0;
}
int32_t AOTInductorModelContainerGetNumOutputs(void *c, size_t *n) { return (void)c, *n = 0, 0; }
int32_t AOTInductorModelContainerDelete(void *c) { return (void)c, 0; }
int32_t AOTInductorModelContainerCreate(void **c, size_t n, int cpu, const char *dir)
{
	return (void)n, (void)cpu, (void)dir, *c = container, 0;
}
int32_t AOTInductorModelUpdateConstantsFromBlob(void *c, const uint8_t *p) { return (void)c, (void)p, 0; }

#endif
