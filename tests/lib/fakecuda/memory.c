/* Device memory: addresses without access, what is in it elsewhere. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { GRAIN = 512, GAP = 64 << 10, CU_MEMORYTYPE_DEVICE = 2 };

/* The first range that begins above the address. */
static size_t above(const struct device *d, uint64_t address)
{
	size_t lo = 0, hi = d->n_ranges;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (d->range[mid].at > address)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

struct range *fake_range(struct device *d, uint64_t address, uint64_t bytes)
{
	size_t i = above(d, address);
	struct range *r = i ? &d->range[i - 1] : NULL;
	return r && r->data && address - r->at < r->room && bytes <= r->room - (address - r->at) ? r : NULL;
}

char *fake_data(struct device *d, uint64_t address, uint64_t bytes)
{
	struct range *r = fake_range(d, address, bytes);
	return r ? r->data + (address - r->at) : NULL;
}

struct device *fake_device_of(uint64_t address)
{
	for (int i = 0; i < n_devices; i++)
		if (address - (uint64_t)(uintptr_t)devices[i].base < devices[i].room)
			return &devices[i];
	return NULL;
}

static struct range *new_range(struct device *d, uint64_t room)
{
	for (size_t i = 0; i < d->n_ranges; i++)
		if (!d->range[i].data && !d->range[i].reserved && d->range[i].room == room)
			return &d->range[i];
	if (d->room - d->used < room + 2 * GAP)
		return NULL;
	if (d->n_ranges == d->cap_ranges) {
		d->cap_ranges = d->cap_ranges ? 2 * d->cap_ranges : 64;
		d->range = realloc(d->range, d->cap_ranges * sizeof(*d->range));
	}
	struct range *r = &d->range[d->n_ranges++];
	*r = (struct range){.at = (uint64_t)(uintptr_t)d->base + d->used + GAP, .room = room};
	d->used += GAP + (room + GAP - 1) / GAP * GAP;
	return r;
}

int fake_allocate(struct device *d, uint64_t *address, size_t bytes)
{
	static uint64_t ids;
	uint64_t most = 16ull << 30, room = (bytes + GRAIN - 1) / GRAIN * GRAIN;
	if (!bytes)
		return CUDA_ERROR_INVALID_VALUE;
	fake_fails("oom", &most);
	if (bytes > most || d->allocated + room > most)
		return CUDA_ERROR_OUT_OF_MEMORY;
	struct range *r = new_range(d, room);
	if (!r)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r->data = malloc(room);
	if (!r->data)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memset(r->data, 0xff, room); /* NaN: what nobody has written must not look like numbers */
	r->bytes = bytes;
	r->id = ++ids;
	d->allocated += room;
	*address = r->at;
	return CUDA_SUCCESS;
}

int fake_release(uint64_t address)
{
	struct device *d = fake_device_of(address);
	struct range *r = d ? fake_range(d, address, 1) : NULL;
	if (!r || r->at != address)
		return CUDA_ERROR_INVALID_VALUE;
	int rc = r->reserved ? CUDA_ERROR_INVALID_VALUE : fake_wait(d, EVERY, d->seq);
	if (r->reserved)
		return rc;
	free(r->data);
	r->data = NULL;
	d->allocated -= r->room;
	return rc;
}

int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
	struct device *d;
	int rc = fake_enter(&d);
	rc = rc ? rc : fake_unsafe(d);
	rc = rc ? rc : fake_allocate(d, address, bytes);
	return fake_leave(rc, "cuMemAlloc_v2 %zu 0x%llx", bytes, rc ? 0 : (unsigned long long)*address);
}

int cuMemFree_v2(uint64_t address)
{
	struct device *d;
	int rc = fake_enter(&d);
	rc = rc ? rc : fake_unsafe(d);
	rc = rc ? rc : address ? fake_release(address) : CUDA_SUCCESS;
	return fake_leave(rc, "cuMemFree_v2 0x%llx", (unsigned long long)address);
}

/* Of the stream's order only this is kept: what was issued before is done before it is freed. */
int cuMemAllocAsync(uint64_t *address, size_t bytes, void *stream)
{
	struct device *d;
	int rc = fake_enter(&d);
	rc = rc ? rc : fake_allocate(d, address, bytes);
	return fake_leave(rc, "cuMemAllocAsync %zu %p", bytes, stream);
}

int cuMemFreeAsync(uint64_t address, void *stream)
{
	struct device *d;
	int rc = fake_enter(&d);
	rc = rc ? rc : fake_release(address);
	return fake_leave(rc, "cuMemFreeAsync 0x%llx %p", (unsigned long long)address, stream);
}

int cuMemGetInfo_v2(size_t *left, size_t *total)
{
	struct device *d;
	int rc = fake_enter(&d);
	if (!rc) {
		*total = 16ull << 30;
		*left = *total - d->allocated;
	}
	return fake_leave(rc, "cuMemGetInfo_v2");
}

/* ---- memory that is mapped to addresses: handles of one size, one behind the other, as torch's expandable segments have them ---- */

int cuMemAddressReserve(uint64_t *address, size_t bytes, size_t align, uint64_t wanted, unsigned long long flags)
{
	struct device *d;
	int rc = fake_enter(&d);
	rc = rc || bytes % GRAIN == 0 ? rc : CUDA_ERROR_INVALID_VALUE;
	struct range *r = rc ? NULL : new_range(d, bytes);
	rc = rc || r ? rc : CUDA_ERROR_OUT_OF_MEMORY;
	if (r) {
		r->data = malloc(bytes);
		r->reserved = bytes;
		r->room = r->bytes = 0;
		*address = r->at;
	}
	return fake_leave(rc, "cuMemAddressReserve %zu %zu 0x%llx %llu", bytes, align, (unsigned long long)wanted, flags);
}

/* The handle is its size. */
int cuMemCreate(unsigned long long *handle, size_t bytes, const void *properties, unsigned long long flags)
{
	struct device *d;
	uint64_t most = 16ull << 30;
	int rc = fake_enter(&d);
	(void)properties;
	fake_fails("oom", &most);
	rc = rc || d->allocated + bytes <= most ? rc : CUDA_ERROR_OUT_OF_MEMORY;
	if (!rc)
		*handle = bytes;
	return fake_leave(rc, "cuMemCreate %zu %llu", bytes, flags);
}

static struct range *reserved(struct device *d, uint64_t address)
{
	size_t i = above(d, address);
	struct range *r = i ? &d->range[i - 1] : NULL;
	return r && r->reserved && address - r->at < r->reserved ? r : NULL;
}

int cuMemMap(uint64_t address, size_t bytes, size_t offset, unsigned long long handle, unsigned long long flags)
{
	struct device *d;
	int rc = fake_enter(&d);
	struct range *r = rc ? NULL : reserved(d, address);
	if (!rc && (!r || offset || bytes != handle || address != r->at + r->room || (r->part && r->part != bytes) ||
		    bytes > r->reserved - r->room))
		rc = CUDA_ERROR_INVALID_VALUE;
	if (!rc) {
		memset(r->data + r->room, 0xff, bytes);
		r->part = bytes;
		r->bytes = r->room += bytes;
		d->allocated += bytes;
	}
	return fake_leave(rc, "cuMemMap 0x%llx %zu %llu", (unsigned long long)address, bytes, flags);
}

int cuMemSetAccess(uint64_t address, size_t bytes, const void *access, size_t n)
{
	struct device *d;
	int rc = fake_enter(&d);
	(void)access;
	rc = rc || fake_range(d, address, bytes) ? rc : CUDA_ERROR_INVALID_VALUE;
	return fake_leave(rc, "cuMemSetAccess 0x%llx %zu %zu", (unsigned long long)address, bytes, n);
}

/* ---- host memory that kernels may use: at the same address, as everywhere with unified addresses ---- */

static struct pinned {
	char *at;
	size_t bytes;
} pinned[64];

char *fake_pinned(uint64_t address, uint64_t *at, uint64_t *bytes)
{
	for (size_t i = 0; i < sizeof(pinned) / sizeof(*pinned); i++)
		if (address - (uint64_t)(uintptr_t)pinned[i].at < pinned[i].bytes) {
			*at = (uint64_t)(uintptr_t)pinned[i].at;
			*bytes = pinned[i].bytes;
			return pinned[i].at;
		}
	return NULL;
}

int cuMemHostRegister_v2(void *p, size_t bytes, unsigned flags)
{
	struct device *d;
	size_t i = 0;
	int rc = fake_enter(&d);
	rc = rc ? rc : fake_unsafe(d);
	while (i < sizeof(pinned) / sizeof(*pinned) && pinned[i].at)
		i++;
	if (!rc && (!bytes || i == sizeof(pinned) / sizeof(*pinned)))
		rc = CUDA_ERROR_INVALID_VALUE;
	if (!rc)
		pinned[i] = (struct pinned){p, bytes};
	return fake_leave(rc, "cuMemHostRegister_v2 %zu %u", bytes, flags);
}

int cuMemHostUnregister(void *p)
{
	struct device *d;
	size_t i = 0;
	int rc = fake_enter(&d);
	while (i < sizeof(pinned) / sizeof(*pinned) && pinned[i].at != p)
		i++;
	if (!rc && i == sizeof(pinned) / sizeof(*pinned))
		rc = CUDA_ERROR_INVALID_VALUE;
	if (!rc) {
		rc = fake_wait(d, EVERY, d->seq);
		pinned[i] = (struct pinned){0};
	}
	return fake_leave(rc, "cuMemHostUnregister");
}

int cuMemHostGetDevicePointer_v2(uint64_t *address, void *p, unsigned flags)
{
	struct device *d;
	uint64_t at, bytes;
	int rc = fake_enter(&d);
	if (!rc && (flags || !fake_pinned((uint64_t)(uintptr_t)p, &at, &bytes)))
		rc = CUDA_ERROR_INVALID_VALUE;
	if (!rc)
		*address = (uint64_t)(uintptr_t)p;
	return fake_leave(rc, "cuMemHostGetDevicePointer_v2 %u", flags);
}

/* ---- copies ---- */

static int copy_now(struct device *d, struct work *w)
{
	char *to = fake_device_of(w->to) ? fake_data(fake_device_of(w->to), w->to, w->bytes) : (char *)(uintptr_t)w->to;
	char *from = w->data                   ? w->data
		     : fake_device_of(w->from) ? fake_data(fake_device_of(w->from), w->from, w->bytes)
					       : (char *)(uintptr_t)w->from;
	(void)d;
	if (!to || !from) /* freed since it was issued */
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	memmove(to, from, w->bytes);
	return CUDA_SUCCESS;
}

static int fill_now(struct device *d, struct work *w)
{
	char *to = fake_data(d, w->to, w->bytes);
	if (!to)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	memset(to, w->value, w->bytes);
	return CUDA_SUCCESS;
}

static bool whole(uint64_t address, uint64_t bytes, bool device)
{
	struct device *d = fake_device_of(address);
	return d ? device && fake_range(d, address, bytes) : !device && address;
}

enum way { TO_DEVICE, TO_HOST, ON_DEVICE };

static int copy(const char *name, uint64_t to, uint64_t from, size_t bytes, enum way way, void *stream, bool wait)
{
	struct device *d;
	int rc = fake_enter(&d);
	rc = rc || !wait ? rc : fake_unsafe(d);
	if (!rc && bytes && (!whole(to, bytes, way != TO_HOST) || !whole(from, bytes, way != TO_DEVICE)))
		rc = CUDA_ERROR_INVALID_VALUE;
	struct device *owner = fake_device_of(way == TO_DEVICE ? to : from);
	if (!rc && wait && owner && owner != d) /* unified addresses: the memory may be another device's */
		rc = fake_wait(owner, 0, owner->seq);
	if (!rc && bytes) {
		struct work *w = fake_alloc(sizeof(*w));
		*w = (struct work){.run = copy_now, .to = to, .from = from, .bytes = bytes};
		if (way == TO_DEVICE) { /* as from memory that is not pinned: it may be changed at once */
			w->data = memcpy(fake_alloc(bytes), (void *)(uintptr_t)from, bytes);
			w->data_bytes = bytes;
		}
		rc = fake_issue(d, stream, w);
		rc = rc || !wait ? rc : fake_wait(d, 0, d->seq);
	}
	return fake_leave(rc, "%s 0x%llx 0x%llx %zu %p", name, (unsigned long long)to, (unsigned long long)from, bytes, stream);
}

static uint64_t host(const void *p) { return (uint64_t)(uintptr_t)p; }

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n) { return copy("cuMemcpyHtoD_v2", to, host(from), n, TO_DEVICE, NULL, true); }
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n) { return copy("cuMemcpyDtoH_v2", host(to), from, n, TO_HOST, NULL, true); }
int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t n) { return copy("cuMemcpyDtoD_v2", to, from, n, ON_DEVICE, NULL, true); }
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t n, void *s)
{
	return copy("cuMemcpyHtoDAsync_v2", to, host(from), n, TO_DEVICE, s, false);
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t n, void *s)
{
	return copy("cuMemcpyDtoHAsync_v2", host(to), from, n, TO_HOST, s, false);
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t n, void *s)
{
	return copy("cuMemcpyDtoDAsync_v2", to, from, n, ON_DEVICE, s, false);
}

static int fill(const char *name, uint64_t to, unsigned char value, size_t bytes, void *stream)
{
	struct device *d;
	int rc = fake_enter(&d);
	if (!rc && !whole(to, bytes, true))
		rc = CUDA_ERROR_INVALID_VALUE;
	if (!rc) {
		struct work *w = fake_alloc(sizeof(*w));
		*w = (struct work){.run = fill_now, .to = to, .bytes = bytes, .value = value};
		rc = fake_issue(d, stream, w);
	}
	return fake_leave(rc, "%s 0x%llx %zu", name, (unsigned long long)to, bytes);
}

int cuMemsetD8_v2(uint64_t to, unsigned char value, size_t n) { return fill("cuMemsetD8_v2", to, value, n, NULL); }
int cuMemsetD8Async(uint64_t to, unsigned char value, size_t n, void *s) { return fill("cuMemsetD8Async", to, value, n, s); }

/* ---- what an address is ---- */

int cuMemGetAddressRange_v2(uint64_t *base, size_t *bytes, uint64_t address)
{
	struct device *cur, *d;
	int rc = fake_enter(&cur);
	struct range *r = !rc && (d = fake_device_of(address)) ? fake_range(d, address, 1) : NULL;
	rc = rc ? rc : r ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
	/* Of several handles only one is told. */
	uint64_t in = rc || !r->part ? 0 : (address - r->at) / r->part * r->part;
	if (!rc) {
		if (base)
			*base = r->at + in;
		if (bytes)
			*bytes = r->part ? r->part : r->bytes;
	}
	return fake_leave(rc, "cuMemGetAddressRange_v2 0x%llx", (unsigned long long)address);
}

/* CUpointer_attribute */
enum {
	CONTEXT = 1,
	MEMORY_TYPE,
	DEVICE_POINTER,
	HOST_POINTER,
	BUFFER_ID = 7,
	IS_MANAGED,
	DEVICE_ORDINAL,
	RANGE_START = 11,
	RANGE_SIZE,
	MAPPED
};

static int attribute_of(void *value, int attribute, uint64_t address)
{
	struct device *d = fake_device_of(address);
	struct range *r = d ? fake_range(d, address, 1) : NULL;
	switch (attribute) {
	case CONTEXT: *(void **)value = r ? d : NULL; break;
	case MEMORY_TYPE: *(unsigned *)value = CU_MEMORYTYPE_DEVICE; break;
	case DEVICE_POINTER: *(uint64_t *)value = address; break;
	case BUFFER_ID: *(uint64_t *)value = r ? r->id : 0; break;
	case IS_MANAGED:
	case MAPPED: *(unsigned char *)value = attribute == MAPPED && r; break;
	case DEVICE_ORDINAL: *(int *)value = r ? d->index : -2; break;
	case RANGE_START: *(uint64_t *)value = r ? r->at : 0; break;
	case RANGE_SIZE: *(size_t *)value = r ? r->bytes : 0; break;
	default: return CUDA_ERROR_INVALID_VALUE;
	}
	return r ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

int cuPointerGetAttribute(void *value, int attribute, uint64_t address)
{
	struct device *d;
	union {
		uint64_t number;
		void *pointer;
	} room = {0};
	static const unsigned char bytes[] = {
	    [CONTEXT] = 8,        [MEMORY_TYPE] = 4, [DEVICE_POINTER] = 8, [BUFFER_ID] = 8, [IS_MANAGED] = 1,
	    [DEVICE_ORDINAL] = 4, [RANGE_START] = 8, [RANGE_SIZE] = 8,     [MAPPED] = 1};
	int rc = fake_enter(&d);
	rc = rc ? rc : attribute_of(&room, attribute, address);
	if (!rc)
		memcpy(value, &room, bytes[attribute]);
	return fake_leave(rc, "cuPointerGetAttribute %d 0x%llx", attribute, (unsigned long long)address);
}

/* Addresses that are the driver's none are no failure here: the attributes are 0 (cuda.h). */
int cuPointerGetAttributes(unsigned n, int *attribute, void **value, uint64_t address)
{
	struct device *d;
	int rc = fake_enter(&d);
	for (unsigned i = 0; !rc && i < n; i++)
		if (fake_device_of(address))
			attribute_of(value[i], attribute[i], address);
		else if (attribute[i] == IS_MANAGED || attribute[i] == MAPPED)
			*(unsigned char *)value[i] = 0;
		else if (attribute[i] == MEMORY_TYPE || attribute[i] == DEVICE_ORDINAL)
			*(int *)value[i] = attribute[i] == DEVICE_ORDINAL ? -2 : 0;
		else
			*(uint64_t *)value[i] = 0;
	return fake_leave(rc, "cuPointerGetAttributes 0x%llx", (unsigned long long)address);
}
