/* Devices, contexts, errors, the log. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

struct device devices[MAX_DEVICES];
int n_devices;
bool blocking;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool ready;
static int log_fd = -1;
static _Thread_local struct device *current;

void *fake_alloc(size_t bytes)
{
	void *p = calloc(1, bytes ? bytes : 1);
	if (!p)
		abort();
	return p;
}

static void log_line(const char *fmt, va_list args, int rc)
{
	char text[1024];
	if (log_fd < 0)
		return;
	int n = vsnprintf(text, sizeof(text) - 32, fmt, args);
	if (n > (int)sizeof(text) - 33)
		n = (int)sizeof(text) - 33;
	n += snprintf(text + n, 32, " = %d\n", rc);
	if (write(log_fd, text, (size_t)n) < 0)
		log_fd = -1;
}

void fake_log(const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	log_line(fmt, args, 0);
	va_end(args);
}

bool fake_fails(const char *what, uint64_t *at)
{
	const char *s = getenv("FAKECUDA_FAIL");
	size_t n = strlen(what);
	while (s && *s) {
		const char *end = strchrnul(s, ',');
		if (!strncmp(s, what, n) && (s + n == end || s[n] == '@')) {
			*at = s[n] == '@' ? strtoull(s + n + 1, NULL, 10) : 0;
			return true;
		}
		s = *end ? end + 1 : end;
	}
	return false;
}

int fake_newer(void)
{
	uint64_t at;
	return fake_fails("old", &at) ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

int fake_begin(void)
{
	pthread_mutex_lock(&lock);
	return ready ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

int fake_enter(struct device **d)
{
	int rc = fake_begin();
	*d = current;
	if (rc)
		return rc;
	return current ? current->sticky : CUDA_ERROR_INVALID_CONTEXT;
}

int fake_leave(int rc, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	log_line(fmt, args, rc);
	va_end(args);
	pthread_mutex_unlock(&lock);
	return rc;
}

static int number(const char *name, int otherwise, int max)
{
	const char *s = getenv(name);
	long n = s ? strtol(s, NULL, 10) : otherwise;
	return n < 0 ? 0 : n > max ? max : (int)n;
}

static void start(void)
{
	uint64_t at;
	const char *path = getenv("FAKECUDA_LOG"), *b = getenv("CUDA_LAUNCH_BLOCKING");
	log_fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;
	blocking = b && *b == '1';
	n_devices = fake_fails("nodevice", &at) ? 0 : number("FAKECUDA_DEVICES", 1, MAX_DEVICES);
	for (int i = 0; i < n_devices; i++) {
		struct device *d = &devices[i];
		/* Addresses without memory; less of them where a limit is set. */
		for (d->room = 1ull << 38; d->room > 1 << 24; d->room /= 4) {
			d->base = mmap(NULL, d->room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
			if (d->base != MAP_FAILED)
				break;
		}
		d->index = i;
		d->sm = number("FAKECUDA_SM", 90, 999);
		d->end = &d->first;
		d->legacy.d = d;
	}
	ready = n_devices > 0;
}

/* A real driver opens its devices for reading and writing; what a sealed process gets is CUDA_ERROR_OPERATING_SYSTEM. */
static bool opens_devices(void)
{
	const int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int cuInit(unsigned flags)
{
	pthread_mutex_lock(&lock);
	if (!opens_devices())
		return fake_leave(CUDA_ERROR_OPERATING_SYSTEM, "cuInit");
	if (!ready)
		start();
	return fake_leave(flags ? CUDA_ERROR_INVALID_VALUE : ready ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE, "cuInit");
}

int cuDriverGetVersion(int *version)
{
	pthread_mutex_lock(&lock);
	*version = 12080;
	return fake_leave(CUDA_SUCCESS, "cuDriverGetVersion");
}

int cuDeviceGetCount(int *n)
{
	int rc = fake_begin();
	*n = n_devices;
	return fake_leave(rc, "cuDeviceGetCount");
}

static int device_call(int device)
{
	int rc = fake_begin();
	return rc ? rc : device < 0 || device >= n_devices ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

int cuDeviceGet(int *device, int ordinal)
{
	int rc = device_call(ordinal);
	if (!rc)
		*device = ordinal;
	return fake_leave(rc, "cuDeviceGet %d", ordinal);
}

int cuDeviceGetName(char *name, int n, int device)
{
	int rc = device_call(device);
	if (!rc)
		snprintf(name, (size_t)n, "Fake GPU %d", device);
	return fake_leave(rc, "cuDeviceGetName %d", device);
}

int cuDeviceComputeCapability(int *major, int *minor, int device)
{
	int rc = device_call(device);
	if (!rc) {
		*major = devices[device].sm / 10;
		*minor = devices[device].sm % 10;
	}
	return fake_leave(rc, "cuDeviceComputeCapability %d", device);
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	int rc = device_call(device);
	if (!rc)
		*bytes = 16ull << 30;
	return fake_leave(rc, "cuDeviceTotalMem_v2 %d", device);
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	enum { MAX_THREADS = 1, MAX_SHARED = 8, WARP = 10, SMS = 16, UNIFIED = 41, MAJOR = 75, MINOR = 76, SHARED_OPTIN = 97 };
	int rc = device_call(device);
	if (!rc)
		*value = attribute == MAX_THREADS    ? 1024
			 : attribute == MAX_SHARED   ? 49152
			 : attribute == WARP         ? 32
			 : attribute == SMS          ? 4
			 : attribute == UNIFIED      ? 1
			 : attribute == MAJOR        ? devices[device].sm / 10
			 : attribute == MINOR        ? devices[device].sm % 10
			 : attribute == SHARED_OPTIN ? 232448
						     : 0;
	return fake_leave(rc, "cuDeviceGetAttribute %d %d", attribute, device);
}

/* ---- contexts: a device's primary one is the device ---- */

static struct device *device_of(const void *context)
{
	for (int i = 0; i < n_devices; i++)
		if (context == &devices[i])
			return &devices[i];
	return NULL;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
	int rc = device_call(device);
	if (!rc)
		*context = &devices[device];
	return fake_leave(rc, "cuDevicePrimaryCtxRetain %d", device);
}

int cuDevicePrimaryCtxRelease_v2(int device) { return fake_leave(device_call(device), "cuDevicePrimaryCtxRelease_v2 %d", device); }

int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
	int rc = device_call(device);
	if (!rc) {
		*flags = 0;
		*active = 1;
	}
	return fake_leave(rc, "cuDevicePrimaryCtxGetState %d", device);
}

int cuCtxGetCurrent(void **context)
{
	int rc = fake_begin();
	*context = current;
	return fake_leave(rc, "cuCtxGetCurrent");
}

int cuCtxSetCurrent(void *context)
{
	int rc = fake_begin();
	if (!rc && context && !device_of(context))
		rc = CUDA_ERROR_INVALID_CONTEXT;
	if (!rc)
		current = device_of(context);
	return fake_leave(rc, "cuCtxSetCurrent %d", current ? current->index : -1);
}

static _Thread_local struct device *pushed[16];
static _Thread_local int n_pushed;

int cuCtxPushCurrent_v2(void *context)
{
	int rc = fake_begin();
	if (!rc && (!device_of(context) || n_pushed == 16))
		rc = CUDA_ERROR_INVALID_CONTEXT;
	if (!rc) {
		pushed[n_pushed++] = current;
		current = device_of(context);
	}
	return fake_leave(rc, "cuCtxPushCurrent_v2 %d", current ? current->index : -1);
}

int cuCtxPopCurrent_v2(void **context)
{
	int rc = fake_begin();
	if (!rc && !n_pushed)
		rc = CUDA_ERROR_INVALID_CONTEXT;
	if (!rc) {
		if (context)
			*context = current;
		current = pushed[--n_pushed];
	}
	return fake_leave(rc, "cuCtxPopCurrent_v2");
}

int cuCtxGetDevice(int *device)
{
	int rc = fake_begin();
	if (!rc && !current)
		rc = CUDA_ERROR_INVALID_CONTEXT;
	if (!rc)
		*device = current->index;
	return fake_leave(rc, "cuCtxGetDevice");
}

int cuCtxSynchronize(void)
{
	struct device *d;
	int rc = fake_enter(&d);
	rc = rc ? rc : fake_unsafe(d);
	rc = rc ? rc : fake_captured(d);
	rc = rc ? rc : fake_wait(d, EVERY, d->seq);
	return fake_leave(rc, "cuCtxSynchronize");
}

/* ---- errors ---- */

static const char *text_of(int error, bool name)
{
	switch (error) {
#define X(number, what, text) \
	case number: return name ? "CUDA_" #what : text;
		CUDA_RESULTS(X)
#undef X
	}
	return NULL;
}

int cuGetErrorString(int error, const char **text)
{
	*text = text_of(error, false);
	return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

int cuGetErrorName(int error, const char **text)
{
	*text = text_of(error, true);
	return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- entry points by name ---- */

/* The newest form of a name, as cuda.h maps it: cuMemAlloc is cuMemAlloc_v2. */
static void *entry(const char *name)
{
	static const char *const ends[] = {"_v2", "WithFlags", ""};
	char full[128];
	Dl_info self;
	if (!dladdr((void *)(uintptr_t)&cuInit, &self))
		return NULL;
	void *so = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD), *p = NULL;
	for (size_t i = strcmp(name, "cuGraphInstantiate") ? 0 : 1; so && !p && i < 3; i++)
		if (strcmp(ends[i], "WithFlags") || !strcmp(name, "cuGraphInstantiate")) {
			snprintf(full, sizeof(full), "%s%s", name, ends[i]);
			p = dlsym(so, full);
		}
	if (so)
		dlclose(so);
	return p;
}

int cuGetProcAddress_v2(const char *name, void **fn, int version, uint64_t flags, int *status)
{
	(void)version, (void)flags;
	*fn = entry(name);
	if (status)
		*status = *fn ? 0 : 1; /* CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND */
	return *fn ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

int cuGetProcAddress(const char *name, void **fn, int version, uint64_t flags)
{
	return cuGetProcAddress_v2(name, fn, version, flags, NULL);
}
