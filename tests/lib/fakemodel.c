/* fakemodel.c - the smallest thing that is a model to the probe: it calls libtorch from an initialiser and exports the
 * entry points. With -DQUIET it calls libtorch when a container is made and when it runs, as models without a buffer of their own do.
 * Unlike the C++ of real ones (whose unique symbols the loader keeps for good) it can be unloaded. It
 * takes any inputs, deletes them and has no outputs.
 *
 * A first input of 100 or more floats goes through kernels, as generated code does it (each kernel is called through a slot):
 *     cpp_fused_add_0(in, buf0), cpp_fused_log_1(buf0, buf1), cpp_fused_many_2(...), cpp_fused_mul_3(buf1)
 * Of 101 floats the log makes two NaN, of 102 cpp_fused_add_0 crashes, of 103 it is not called, of 104 it takes 0.2 s. A many_2 that did not get its
 * arguments makes the Run fail.
 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

extern int32_t aoti_torch_device_type_cpu(void), aoti_torch_dtype_float32(void);
extern int32_t aoti_torch_delete_tensor_object(void *);

extern int32_t aoti_torch_get_data_ptr(void *, void **), aoti_torch_get_numel(void *, int64_t *);
extern int32_t aoti_torch_empty_strided(int64_t, const int64_t *, const int64_t *, int32_t, int32_t, int32_t, void **);

extern bool aoti_torch_grad_mode_is_enabled(void);
extern void aoti_torch_grad_mode_set_enabled(bool);

static int32_t cached;
#ifndef QUIET
__attribute__((constructor)) static void initialise(void) { cached = aoti_torch_device_type_cpu() + aoti_torch_dtype_float32(); }
#endif

int32_t AOTInductorModelContainerCreateWithDevice(void **c, size_t n, const char *device, const char *dir)
{
	(void)n, (void)device, (void)dir;
	cached = aoti_torch_device_type_cpu();
	return *c = &cached, 0;
}
int32_t AOTInductorModelCreateV2(void **m, const void *pairs, size_t n) { return (void)pairs, (void)n, *m = &cached, 0; }
int32_t AOTInductorModelContainerGetNumOutputs(void *c, size_t *n) { return (void)c, *n = 0, 0; }
int32_t AOTInductorModelContainerDelete(void *c) { return (void)c, 0; }
int32_t AOTInductorModelDelete(void *m) { return (void)m, 0; }
int32_t AOTInductorGetLastError(const char **text) { return *text = "", 0; }

void cpp_fused_add_0(const float *in, float *out, int64_t n)
{
	if (n == 102)
		*(volatile int *)NULL = 1;
	if (n == 104)
		usleep(200000);
	for (int64_t i = 0; i < n; i++)
		out[i] = in[i] + 1;
}

void cpp_fused_log_1(const float *in, float *out, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = logf(n == 101 && (i == 7 || i == 9) ? -in[i] : in[i]);
}

/* Arguments in all registers and on the stack, results in two registers. */
struct pair {
	int64_t a;
	double b;
};
struct pair cpp_fused_many_2(const float *p, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f, int64_t g, double u,
			     double v, double w, double x, double y, double z, double s, double t, double r, int64_t h, float q)
{
	int64_t ints = p ? a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f + 1000000 * g + 10000000 * h : 0;
	double reals = u + 2 * v + 4 * w + 8 * x + 16 * y + 32 * z + 64 * s + 128 * t + 256 * r + 512 * (double)q;
	return (struct pair){ints, reals};
}

void cpp_fused_mul_3(float *in_out, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		in_out[i] *= 2;
}

static float *data_of(void *t)
{
	void *p = NULL;
	aoti_torch_get_data_ptr(t, &p);
	return p;
}

static int32_t kernels(void *in, int64_t n)
{
	const int64_t one = 1;
	void *buf0, *buf1;
	if (aoti_torch_empty_strided(1, &n, &one, 6, 0, 0, &buf0))
		return 1;
	if (n != 103)
		cpp_fused_add_0(data_of(in), data_of(buf0), n);
	if (aoti_torch_empty_strided(1, &n, &one, 6, 0, 0, &buf1)) {
		aoti_torch_delete_tensor_object(buf0);
		return 1;
	}
	cpp_fused_log_1(data_of(buf0), data_of(buf1), n);
	struct pair p = cpp_fused_many_2(data_of(buf1), 1, 2, 3, 4, 5, 6, 7, 1, 1, 1, 1, 1, 1, 1, 1, 1, 8, 1);
	cpp_fused_mul_3(data_of(buf1), n);
	aoti_torch_delete_tensor_object(buf0);
	aoti_torch_delete_tensor_object(buf1);
	return p.a != 87654321 || p.b != 1023;
}

static inline __attribute__((always_inline)) int32_t run(void **in, size_t n_in)
{
	int64_t n = 0;
	int32_t r = 0;
	bool grad = aoti_torch_grad_mode_is_enabled();
	aoti_torch_grad_mode_set_enabled(false);
	if (n_in && !aoti_torch_get_numel(in[0], &n) && n >= 100)
		r = kernels(in[0], n);
	for (size_t i = 0; i < n_in; i++)
		aoti_torch_delete_tensor_object(in[i]);
	aoti_torch_grad_mode_set_enabled(grad);
	return r;
}
int32_t AOTInductorModelContainerRun(void *c, void **in, size_t n_in, void **out, size_t n_out, void *stream, void *proxy)
{
	(void)c, (void)out, (void)n_out, (void)stream, (void)proxy;
	return run(in, n_in);
}
int32_t AOTInductorModelContainerRunSingleThreaded(void *c, void **in, size_t n_in, void **out, size_t n_out, void *stream, void *proxy)
{
	(void)c, (void)out, (void)n_out, (void)stream, (void)proxy;
	return run(in, n_in);
}
int32_t AOTInductorModelRun(void *m, void **in, void **out) { return (void)m, (void)in, (void)out, 0; }
