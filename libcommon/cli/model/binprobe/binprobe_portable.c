/* A processor on which models cannot be probed: ask_contract() reports that before anything here is called. */
#include "model/binprobe/binprobe_child.h"

const bool ask_can_run = false;
const uint16_t ask_machine = 0;

enum relocation ask_relocation(uint32_t type)
{
	(void)type;
	return RELOCATION_UNKNOWN;
}

uint64_t ask_thread_pointer(void) { return 0; }

void ask_tls_descriptor(void) {}

void ask_write_stub(uint8_t *code, uint32_t number) { (void)code, (void)number; }

bool ask_patch(uint8_t *entry, const void *stub)
{
	(void)entry, (void)stub;
	return false;
}
