/* Faults and findings of a GPU as a watched process tells them (watch/ima.h): any bytes. */
#include "watch/ima.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct ima r = {0};
	struct buf b = {0};
	ima_read(&r, slice_of((const char *)p, n));
	for (size_t i = 0; i < r.n; i++) {
		ima_name_numbers(&r.v[i], NULL);
		ima_judge(&r, &r.v[i]);
		if (r.v[i].n_suspects > r.v[i].n)
			__builtin_trap();
		for (uint32_t k = 0; k < r.v[i].n_suspects; k++)
			if (r.v[i].suspect[k].param >= r.v[i].n || !r.v[i].suspect[k].text.n || !*ima_why_name(r.v[i].suspect[k].why))
				__builtin_trap();
		for (uint32_t k = 0; k < r.v[i].n; k++)
			if (ima_room(&r.v[i].p[k]) != IMA_NONE && ima_room(&r.v[i].p[k]) > r.v[i].p[k].allocation)
				__builtin_trap();
	}
	ima_release(&r);
	ima_sentences(slice_of((const char *)p, n), &b);
	buf_release(&b);
	return 0;
}
