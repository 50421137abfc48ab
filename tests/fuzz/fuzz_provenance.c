/* Any bytes as graphs, code, mappings and stacks (parted by NUL bytes): links are lines of the texts, and both the links and
 * their JSON hold together. */
#include "run/trace/provenance.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		abort();
}

static uint32_t lines(struct slice s)
{
	struct slice line;
	uint32_t n = 0;
	while (slice_line(&s, &line))
		n++;
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum prov_text side[PROV_WAYS][2] = {{PROV_PRE, PROV_POST},  {PROV_POST, PROV_PRE}, {PROV_CODE, PROV_POST},
							  {PROV_POST, PROV_CODE}, {PROV_AOT, PROV_POST}, {PROV_POST, PROV_AOT}};
	struct slice text[PROV_TEXTS];
	uint32_t n[PROV_TEXTS];
	char *copy[PROV_TEXTS]; /* of their own, so that reading past one is seen */
	struct provenance p = {0};
	struct buf b = {0};
	struct json_out o = {.b = &b, .html = true};
	struct json_tape t = {0};
	uint32_t root;
	for (unsigned i = 0; i < PROV_TEXTS; i++) {
		const uint8_t *end = size ? memchr(data, 0, size) : NULL;
		size_t len = end ? (size_t)(end - data) : size;
		copy[i] = xmalloc(len);
		if (len)
			memcpy(copy[i], data, len);
		text[i] = slice_of(copy[i], len);
		n[i] = lines(text[i]);
		data += len + (end != NULL);
		size -= len + (end != NULL);
	}
	provenance_build(&p, text);
	for (unsigned i = 0; i < PROV_TEXTS; i++)
		free(copy[i]);
	for (unsigned w = 0; w < PROV_WAYS; w++)
		for (uint32_t i = 0; i < p.n_link[w]; i++) {
			const struct prov_link *l = &p.link[w][i];
			require(l->from >= 1 && l->from <= n[side[w][0]] && l->to >= 1 && l->to <= n[side[w][1]]);
			require(!i || l[-1].from < l->from || (l[-1].from == l->from && l[-1].to < l->to));
			require(p.link[w][provenance_first(&p, w, l->from)].from == l->from);
		}
	for (unsigned w = 0; w < 2; w++)
		for (uint32_t i = 0; i < p.n_call[w]; i++) {
			const struct prov_call *c = &p.call[w][i];
			require(c->kernel < p.n_kernel && c->first >= 1 && c->first <= c->last && c->last <= n[PROV_CODE + w]);
		}
	for (uint32_t i = 0; i < p.n_kernel; i++)
		require(p.kernel[i].def_first <= p.kernel[i].def_last);
	for (unsigned g = 0; g < 2; g++) {
		for (uint32_t i = 0; i < p.n_origin[g]; i++)
			require(p.origin[g][i].source == UINT32_MAX || p.origin[g][i].source < p.n_source);
		provenance_source(&p, g, n[g]);
	}
	provenance_json(&p, &o);
	require(utf8_valid(buf_slice(&b)) && !memchr(b.p, '<', b.len));
	json_tape_text(&t, b.p, b.len);
	require(json_parse(&t, 0, b.len, &root) == 0);
	json_tape_release(&t);
	buf_release(&b);
	provenance_release(&p);
	return 0;
}
