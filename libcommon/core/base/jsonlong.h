/* jsonlong.h - over the long part of a JSON string, 64 bytes a step where the processor has AVX-512 (BW). For json.c.
 *
 *     p = json_string_long(p, end, &escaped);
 *
 * p: within a string, not behind a backslash. Moves over bytes in which it does not end and nothing is to be looked at closer: no
 * control byte, no escapes but \" \n \t \/, none beside another. It may stop anywhere before that, at once where the processor cannot. */
#ifndef PT2_JSONLONG_H
#define PT2_JSONLONG_H
#include <stdint.h>

const char *json_string_long(const char *p, const char *end, uint8_t *escaped);

#endif
