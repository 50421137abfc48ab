#include "base/emit/markdown.h"

/* Not within a character of UTF-8. */
static struct slice cut_text(struct slice s, size_t most)
{
	if (!most || s.n <= most)
		return s;
	while (most && ((unsigned char)s.p[most] & 0xc0) == 0x80)
		most--;
	return slice_of(s.p, most);
}

void md_text(struct buf *b, struct slice s, size_t most)
{
	struct slice shown = cut_text(s, most);
	for (size_t i = 0; i < shown.n; i++) {
		char c = shown.p[i];
		if (c == '<' || c == '>' || c == '&')
			buf_adds(b, c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&amp;");
		else if (c == '@')
			buf_adds(b, "@<!-- -->"); /* @torch.compile must not mention a user */
		else if (strchr("\\`*_[]|#~$", c) && c)
			buf_addf(b, "\\%c", c);
		else
			buf_addc(b, (unsigned char)c < ' ' || c == 127 ? ' ' : c);
	}
	if (shown.n < s.n)
		buf_adds(b, "...");
}

static size_t longest_run(struct slice s, char c)
{
	size_t longest = 0, run = 0;
	for (size_t i = 0; i < s.n; i++) {
		run = s.p[i] == c ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

static void repeat(struct buf *b, char c, size_t n)
{
	while (n--)
		buf_addc(b, c);
}

void md_code(struct buf *b, struct slice s, size_t most)
{
	struct slice shown = cut_text(s, most);
	size_t n = longest_run(shown, '`') + 1;
	repeat(b, '`', n);
	if (n > 1)
		buf_addc(b, ' ');
	for (size_t i = 0; i < shown.n; i++) {
		char c = shown.p[i];
		if (c == '|')
			buf_addc(b, '\\'); /* would end the table cell */
		buf_addc(b, (unsigned char)c < ' ' || c == 127 ? ' ' : c);
	}
	if (shown.n < s.n)
		buf_adds(b, "...");
	if (n > 1)
		buf_addc(b, ' ');
	repeat(b, '`', n);
}

static void put_raw(struct buf *b, struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		buf_addc(b, ((unsigned char)s.p[i] < ' ' && s.p[i] != '\n' && s.p[i] != '\t') || s.p[i] == 127 ? '?' : s.p[i]);
}

void md_block(struct buf *b, const char *lang, struct slice s, size_t most)
{
	size_t n = longest_run(s, '`') + 1;
	n = n < 3 ? 3 : n;
	while (s.n && s.p[s.n - 1] == '\n')
		s.n--;
	repeat(b, '`', n);
	buf_adds(b, lang);
	buf_addc(b, '\n');
	if (s.n <= most) {
		put_raw(b, s);
	} else {
		size_t head = most / 3, tail = s.n - (most - most / 3), lines = 0;
		while (head && s.p[head - 1] != '\n' && head > most / 3 - most / 12)
			head--;
		while (head && ((unsigned char)s.p[head] & 0xc0) == 0x80)
			head--;
		for (size_t limit = tail + most / 12; tail < limit && s.p[tail - 1] != '\n';)
			tail++;
		while (tail < s.n && ((unsigned char)s.p[tail] & 0xc0) == 0x80)
			tail++;
		for (size_t i = head; i < tail; i++)
			lines += s.p[i] == '\n';
		put_raw(b, slice_of(s.p, head));
		if (head && s.p[head - 1] != '\n')
			buf_addc(b, '\n');
		buf_addf(b, "[... %zu lines left out ...]\n", lines ? lines : 1);
		put_raw(b, slice_of(s.p + tail, s.n - tail));
	}
	buf_addc(b, '\n');
	repeat(b, '`', n);
	buf_addc(b, '\n');
}

void md_link(struct buf *b, struct slice text, struct slice url)
{
	bool good = slice_starts(url, "https://") || slice_starts(url, "http://");
	for (size_t i = 0; good && i < url.n; i++)
		good = (unsigned char)url.p[i] > ' ' && (unsigned char)url.p[i] < 127 && !strchr("()<>[]\\|`\"", url.p[i]);
	if (!good) {
		md_text(b, text, 0);
		return;
	}
	buf_addc(b, '[');
	md_text(b, text, 0);
	buf_adds(b, "](");
	buf_add_slice(b, url);
	buf_addc(b, ')');
}
