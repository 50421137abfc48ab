/* untab.h - joins the lines of a log's payload without the tabs before them.
 *
 *     struct untab u = {.from = p, .to = p};     // *p is a tab at a line's start
 *     untab(&u, end);
 *     ... p[0 .. u.to - p) is the text, u.from the next line
 *
 * Takes whole lines as long as they begin with a tab. Drops a carriage return before a newline, and the last line's newline. Stops at a
 * line that begins otherwise (or is empty) and at the end, where the last line needs no newline. `to` may be `from` (the text moves in
 * place; the bytes between u.to and u.from are then meaningless) or any place before it. With AVX-512 (VBMI2) 64 bytes at once.
 */
#ifndef PT2_UNTAB_H
#define PT2_UNTAB_H
#include <stdbool.h>
#include <stdint.h>

struct untab {
	char *from, *to;
	uint32_t lines; /* taken */
	bool high;      /* some byte is above 0x7f */
};

void untab(struct untab *u, char *end);
void untab_plain(struct untab *u, char *end); /* line by line: untab() without AVX-512 */

#endif
