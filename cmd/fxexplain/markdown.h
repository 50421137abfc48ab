/* markdown.h - text of a log in Markdown as GitHub shows it: nothing in it is taken for markup, nobody is called by it. */
#ifndef FXEXPLAIN_MARKDOWN_H
#define FXEXPLAIN_MARKDOWN_H
#include "base/buf.h"

/* As a paragraph's or table cell's text: one line, at most `most` bytes (0: any). */
void md_text(struct buf *b, struct slice s, size_t most);
/* `code`: within a line, also in a table. */
void md_code(struct buf *b, struct slice s, size_t most);
/* A fenced block; its middle is left out, whole lines, where it is longer than `most` bytes. */
void md_block(struct buf *b, const char *lang, struct slice s, size_t most);
/* [text](url), when it is an http or https address without blanks and brackets; else the text. */
void md_link(struct buf *b, struct slice text, struct slice url);

#endif
