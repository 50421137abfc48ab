/* fakemodel.c - the smallest thing that is a model to the probe: it calls libtorch from an initialiser and exports the
 * entry points. Unlike the C++ of real ones (whose unique symbols the loader keeps for good) it can be unloaded. It
 * takes any inputs, deletes them and has no outputs.
 */
#include <stddef.h>
#include <stdint.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

extern int32_t aoti_torch_device_type_cpu(void), aoti_torch_dtype_float32(void);
extern int32_t aoti_torch_delete_tensor_object(void *);

static int32_t cached;
__attribute__((constructor)) static void initialise(void)
{
	cached = aoti_torch_device_type_cpu() + aoti_torch_dtype_float32();
}

int32_t AOTInductorModelContainerCreateWithDevice(void **c, size_t n, const char *device, const char *dir)
{
	(void)n, (void)device, (void)dir;
	return *c = &cached, 0;
}
int32_t AOTInductorModelCreateV2(void **m, const void *pairs, size_t n)
{
	return (void)pairs, (void)n, *m = &cached, 0;
}
int32_t AOTInductorModelContainerGetNumOutputs(void *c, size_t *n) { return (void)c, *n = 0, 0; }
int32_t AOTInductorModelContainerDelete(void *c) { return (void)c, 0; }
int32_t AOTInductorModelDelete(void *m) { return (void)m, 0; }
int32_t AOTInductorGetLastError(const char **text) { return *text = "", 0; }

int32_t AOTInductorModelContainerRun(void *c, void **in, size_t n_in, void **out, size_t n_out, void *stream,
				     void *proxy)
{
	(void)c, (void)out, (void)n_out, (void)stream, (void)proxy;
	for (size_t i = 0; i < n_in; i++)
		aoti_torch_delete_tensor_object(in[i]);
	return 0;
}
int32_t AOTInductorModelContainerRunSingleThreaded(void *c, void **in, size_t n_in, void **out, size_t n_out,
						   void *stream, void *proxy)
{
	return AOTInductorModelContainerRun(c, in, n_in, out, n_out, stream, proxy);
}
int32_t AOTInductorModelRun(void *m, void **in, void **out) { return (void)m, (void)in, (void)out, 0; }
