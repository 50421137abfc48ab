/* jsonlong.h - skips the plain part of a long JSON string, 64 bytes a step with AVX-512 (BW). For json.c.
 *
 *     p = json_string_long(p, end, &escaped);
 *
 * p: within a string, not after a backslash. Skips bytes in which the string does not end and nothing needs a closer look: no control byte,
 * no escapes but \" \n \t \/, no two in a row. It may stop anywhere before that; at once if the processor lacks AVX-512. */
#ifndef PT2_JSONLONG_H
#define PT2_JSONLONG_H
#include <stdint.h>

const char *json_string_long(const char *p, const char *end, uint8_t *escaped);

#endif
