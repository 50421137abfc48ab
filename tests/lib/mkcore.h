/* mkcore.h - core files made for a test: threads, a signal, files and memory, each open to lies.
 *
 *     struct buf b = {0};
 *     mkcore(&b, &(struct mkcore){.machine = EM_X86_64, .signal = 11, .code = 1, .fault = 8, .threads = 2});
 *
 * Registers hold 0x1000 * (their number + 1) + the thread's; thread K has the id 100 + K. One mapping of code at 0x400000 with the
 * bytes given, one of data at 0x500000 whose contents are left out.
 */
#ifndef PT2_TEST_MKCORE_H
#define PT2_TEST_MKCORE_H
#include <elf.h>

#include "base/buf.h"

struct mkcore {
	uint16_t machine;
	int signal, code;
	uint64_t fault;
	unsigned threads;
	const char *args, *path; /* path: of the code's file; NULL: no NT_FILE */
	struct slice code_bytes;
};

static inline void mkcore_note(struct buf *b, uint32_t type, const void *p, size_t n)
{
	Elf64_Nhdr nh = {.n_namesz = 5, .n_descsz = (uint32_t)n, .n_type = type};
	buf_add(b, &nh, sizeof(nh));
	buf_add(b, "CORE\0\0\0", 8);
	buf_add(b, p, n);
	while (b->len % 4)
		buf_addc(b, 0);
}

static inline void mkcore_notes(struct buf *b, const struct mkcore *m)
{
	for (unsigned t = 0; t < m->threads; t++) {
		char status[112 + 34 * 8 + 8] = {0};
		uint32_t pid = 100 + t;
		uint16_t signal = (uint16_t)m->signal;
		memcpy(status + 12, &signal, 2);
		memcpy(status + 32, &pid, 4);
		for (uint64_t i = 0; i < 34; i++) {
			uint64_t v = 0x1000 * (i + 1) + t;
			memcpy(status + 112 + 8 * i, &v, 8);
		}
		mkcore_note(b, NT_PRSTATUS, status, m->machine == EM_X86_64 ? 112 + 27 * 8 + 8 : sizeof(status));
	}
	char info[136] = {0}, sig[128] = {0};
	if (m->args)
		snprintf(info + 56, 80, "%s", m->args);
	mkcore_note(b, NT_PRPSINFO, info, sizeof(info));
	memcpy(sig, &m->signal, 4);
	memcpy(sig + 8, &m->code, 4);
	memcpy(sig + 16, &m->fault, 8);
	mkcore_note(b, 0x53494749, sig, sizeof(sig));
	if (m->path) {
		struct buf f = {0};
		uint64_t head[5] = {1, 4096, 0x400000, 0x402000, 0};
		buf_add(&f, head, sizeof(head));
		buf_add(&f, m->path, strlen(m->path) + 1);
		mkcore_note(b, 0x46494c45, f.p, f.len);
		buf_release(&f);
	}
}

static inline void mkcore(struct buf *b, const struct mkcore *m)
{
	struct buf notes = {0};
	mkcore_notes(&notes, m);
	Elf64_Ehdr eh = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			 .e_type = ET_CORE,
			 .e_machine = m->machine,
			 .e_version = 1,
			 .e_phoff = sizeof(eh),
			 .e_ehsize = sizeof(eh),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 3};
	uint64_t at = sizeof(eh) + 3 * sizeof(Elf64_Phdr);
	Elf64_Phdr ph[3] = {
	    {.p_type = PT_NOTE, .p_offset = at, .p_filesz = notes.len},
	    {.p_type = PT_LOAD,
	     .p_flags = PF_R | PF_X,
	     .p_vaddr = 0x400000,
	     .p_memsz = 0x2000,
	     .p_offset = at + notes.len,
	     .p_filesz = m->code_bytes.n},
	    {.p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = 0x500000, .p_memsz = 0x3000},
	};
	buf_reset(b);
	buf_add(b, &eh, sizeof(eh));
	buf_add(b, ph, sizeof(ph));
	buf_add_slice(b, buf_slice(&notes));
	buf_add_slice(b, m->code_bytes);
	buf_release(&notes);
}

#endif
