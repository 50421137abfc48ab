/* Any bytes as a profile: reading ends, sums hold, nothing is read past the end. */
#include <sys/mman.h>
#include <unistd.h>

#include "profile/advice.h"
#include "profile/compare.h"
#include "profile/profile_part.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

/* The parts, on the bytes as they lie: in two pieces, and whole. */
static void parts(const char *text, size_t size)
{
	struct cutter whole = {.from = NONE}, pieces = {.from = NONE};
	cut_scan(&whole, text, 0, size);
	cut_scan(&pieces, text, 0, size / 3);
	cut_scan(&pieces, text, size / 3, size);
	require(whole.n == pieces.n && whole.where == pieces.where);
	for (uint32_t i = 0; i < whole.n; i++) {
		struct event e;
		require(whole.span[i].from == pieces.span[i].from && whole.span[i].to == pieces.span[i].to);
		require(whole.span[i].from < whole.span[i].to && whole.span[i].to <= size);
		event_read(&e, slice_of(text + whole.span[i].from, whole.span[i].to - whole.span[i].from));
	}
	free(whole.span);
	free(pieces.span);
}

static void sums(const struct profile *p)
{
	uint64_t gaps = 0;
	for (uint32_t i = 0; i < p->n_row; i++) {
		const struct profile_row *r = &p->row[i];
		require(r->min <= r->max);
		require(r->step_self <= r->self && r->graph_self <= r->step_self);
		require(r->step_count <= r->count + r->folded);
	}
	for (uint32_t i = 0; i < p->n_gap; i++) {
		require(!i || p->gap[i - 1].dur >= p->gap[i].dur);
		gaps += p->gap[i].dur;
	}
	require(p->n_gap <= PROFILE_GAPS && gaps <= p->gaps);
	for (uint32_t i = 0; i < p->n_region; i++)
		require(p->region[i].nested <= p->region[i].calls && (!p->region[i].nested || p->region[i].after < p->n_region));
	require(p->main_thread == NONE || p->main_thread < p->n_thread);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile p;
	struct err err = {0};
	parts((const char *)data, size);
	int fd = memfd_create("profile", MFD_CLOEXEC);
	require(fd >= 0 && write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (profile_read(&p, path, &err) < 0) {
		require(err.status == EXIT_INPUT && err.text[0]);
	} else {
		struct profile_compare c;
		struct profile_advices x;
		sums(&p);
		profile_compare(&c, &p, NULL);
		profile_advise(&x, &p);
		profile_advices_release(&x);
		profile_compare_release(&c);
		profile_release(&p);
	}
	close(fd);
	return 0;
}
