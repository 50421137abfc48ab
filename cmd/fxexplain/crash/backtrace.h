/* backtrace.h - finds backtraces in any text: a program's stderr, a debugger session, a journal, a paste.
 *
 *     struct crash c = {0};
 *     crash_read_text(&c, text);          // never fails: unknown text is skipped
 *     if (!c.n_frames && !c.signal && !c.signs) ...          // nothing about a crash in here
 *
 * The supported forms, by who writes them (T: seen in real output of torch 2.13, gdb 13, gcc 12, clang 14, CPython
 * 3.11, Linux 6; P: only in documentation):
 *
 *     x.so(sym+0x22b) [0x7f12]                           T backtrace_symbols(3); P libucs with "3  " before it
 *     [19] sym+0x414(0x5642) in /path/x.so               P caffe2's signal handler, torch before 1.9
 *     frame #3: sym(args) + 0x22b (0x7f12 in /path/x.so) T c10/util/Backtrace.cpp; of "<unknown function>" the offset is the module's
 *     #3 sym(args) from file.cpp:0                       P torch/csrc/profiler/unwind: torch 2.2 and later, TORCH_SYMBOLIZE_MODE
 *     #3  0x00007f12 in sym (args) from /path/x.so       T gdb; also " at file.cpp:12", both also on the next line;
 *                                                        "<signal handler called>"
 *     * frame #3: 0x7f12 x.so`sym + 555 at a.cpp:12:3    P lldb
 *         #3 0x7f12 in sym file.cpp:12:3                 T the sanitizers; also " (/path/x.so+0x1234) (BuildId: 12ab)"
 *     #3  0x00007f12 sym (x.so + 0x1234)                 P coredumpctl info
 *     python3[12]: segfault at 8 ip 7f12 sp 7f error 4 in x.so[7f1000+5000]      P Linux before 6.7
 *     ... in x.so[1a000,7f1000+5000]                     P Linux 6.7 and later: the first number is the place in the file
 *     traps: python3[12] trap invalid opcode ip:7f12 sp:7f error:0 in x.so[7f1000+5000]
 *     7f1000-7f6000 r-xp 00001000 08:01 12   /path/x.so  T /proc/PID/maps
 *     File "app.py", line 5 in f                         T faulthandler; with ", in f" tracebacks (base/srcloc.h)
 *     aoti_torch_cpu_f(...) API call failed at x.wrapper.cpp, line 12
 *                                                        T torch/headeronly/util/shim_utils.h
 *
 * A frame numbered 0 starts another stack, as does a line that names a thread.
 */
#ifndef PT2_CRASH_BACKTRACE_H
#define PT2_CRASH_BACKTRACE_H
#include "crash/crash.h"

void crash_read_text(struct crash *c, struct slice text);

/* ---- for backtrace_signs.c ---- */

/* Reads what a line says about the kind of crash. */
void crash_read_sign(struct crash *c, struct slice line);
/* Hexadecimal digits at *at, with or without 0x; advances past them. False if there are none, or more than 16. */
bool crash_hex(struct slice s, size_t *at, uint64_t *v);

#endif
