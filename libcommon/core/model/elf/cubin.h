/* cubin.h - NVIDIA's formats for compiled kernels: cubins, and fat binaries of several.
 *
 *     struct slice parts;
 *     struct fatbin_part part;
 *     if (fatbin_open(bytes, &parts))
 *         while (fatbin_next(&parts, &part) > 0)
 *             if (part.kind == FATBIN_ELF) ...           // part.bytes is a cubin for part.sm
 *
 * A fat binary is {u32 magic, u16 version, u16 length of this, u64 length of what follows} and parts {u16 kind, u16 version, u32 length of
 * this, u64 length of what follows, u32 packed length, u32, u16 minor, u16 major, u32 SM, ...}, each before its bytes. Seen in the output
 * of fatbinary from CUDA 13.0.
 *
 * A cubin is an ELF64 file for machine 190 (EM_CUDA; its sections: modelso_elf.h). Its sections .nv.info and .nv.info.KERNEL are rows of
 * attributes {u8 form, u8 attribute, u16 value}; with form 4 the value is the length of bytes that follow. Attribute 0x17
 * (EIATTR_KPARAM_INFO, 12 bytes) is one parameter of the kernel: u32 index, u16 ordinal, u16 offset, u32 with its size in bits 18 to 31.
 * Attribute 0x37 (EIATTR_CUDA_API_VERSION) is a u32: 128 for CUDA 12.8. Seen in cubins of ptxas 12.8, 12.9, 13.0 and 13.4; the header's
 * e_version has the same number before CUDA 13. NVIDIA does not document any of this; cuobjdump --dump-elf prints it this way, and cubins
 * of CUDA 11 to 13 have it.
 */
#ifndef PT2_AOTI_CUBIN_H
#define PT2_AOTI_CUBIN_H
#include "base/base.h"

#define FATBIN_MAGIC 0xba55ed50u
enum { FATBIN_PTX = 1, FATBIN_ELF = 2 };
enum { FATBIN_HEAD = 16 }; /* bytes that fatbin_length() needs */

struct fatbin_part {
	uint16_t kind, minor, major; /* minor, major: the PTX version; for a cubin, its ABI version */
	uint32_t sm;                 /* 90; also for sm_90a */
	struct slice bytes;          /* may be packed */
};

/* The total length from the header at the start of b; 0: b is not a fat binary. */
uint64_t fatbin_length(struct slice b);
/* False: not a fat binary, or truncated. */
bool fatbin_open(struct slice b, struct slice *parts);
/* 1, 0 at the end, -1 if a part exceeds the bounds. */
int fatbin_next(struct slice *parts, struct fatbin_part *part);

/* The cubin's length from the ELF header at the start of b; 0: b is not a cubin. */
uint64_t cubin_length(struct slice b);
/* Sizes of a kernel's parameters, in order; returns how many. -1: b is not a cubin, lacks the kernel, or has more than max. */
int cubin_params(struct slice b, const char *kernel, uint16_t *size, uint32_t max);
/* The CUDA version of its ptxas, in cuDriverGetVersion's form: 12080 for CUDA 12.8. 0: unknown. */
unsigned cubin_cuda(struct slice b);

#endif
