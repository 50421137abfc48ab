/* glibc228.h - put before every file of ours when a wheel is built (packaging/wheel/build): what glibc 2.29 gave a new version stays
 * the old one, which differs in how errors are told (math_error(7): errno and the exceptions stay the same). */
#ifndef PT2_GLIBC228_H
#define PT2_GLIBC228_H
#if defined(__x86_64__)
#define OLD(f) __asm__(".symver " #f "," #f "@GLIBC_2.2.5");
#elif defined(__aarch64__)
#define OLD(f) __asm__(".symver " #f "," #f "@GLIBC_2.17");
#endif
#ifdef OLD
OLD(exp) OLD(exp2) OLD(log) OLD(log2) OLD(pow)
#undef OLD
#endif
#endif
