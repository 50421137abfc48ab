/* markdown.h - log text as GitHub Markdown: nothing in it acts as markup or mentions a user. */
#ifndef PT2_MARKDOWN_H
#define PT2_MARKDOWN_H
#include "base/buf.h"

/* As text of a paragraph or table cell: one line, at most `most` bytes (0: any). */
void md_text(struct buf *b, struct slice s, size_t most);
/* `code`: within a line, also in a table. */
void md_code(struct buf *b, struct slice s, size_t most);
/* A fenced block; if longer than `most` bytes, lines in the middle are left out. */
void md_block(struct buf *b, const char *lang, struct slice s, size_t most);
/* [text](url), if it is an http or https URL without blanks and brackets; else the text. */
void md_link(struct buf *b, struct slice text, struct slice url);

#endif
