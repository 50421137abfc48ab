/* show.h - a tensor's facts on the screen, in the format of PyTorch's own debug printer (aoti_torch_print_tensor_handle,
 * torch/csrc/inductor/aoti_torch/shim_common.cpp), followed by counts of NaN, infinities and zeros. Unlike there, NaN is excluded
 * from mean, min and max; types have torch's names, not C++'s.
 *
 *     tensor_stats(&m, data, STATS_ALL, &t);
 *     show_tensor_facts(&screen, &m, false, &t);       // Number of elements: ..., Dtype: ..., down to an empty line
 */
#ifndef PT2_LIVE_SHOW_H
#define PT2_LIVE_SHOW_H
#include "base/tool/screen.h"
#include "tensor/stats.h"

/* "2, 3, 4" */
void show_numbers(struct buf *b, const int64_t *v, int n);
/* " became 0.123456789": nine digits; the sign of a NaN means nothing. */
void show_exact(struct buf *b, const char *before, double v);
/* cut: it has more dimensions than m says. t->known false: statistics are unknown. */
void show_tensor_facts(struct screen *s, const struct tensor_meta *m, bool cut, const struct tensor_stats *t);

#endif
