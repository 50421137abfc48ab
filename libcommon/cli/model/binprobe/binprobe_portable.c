/* A processor on which models cannot be probed: binprobe_contract() reports that before anything here is called. */
#include "model/binprobe/binprobe_child.h"

const bool binprobe_can_run = false;
const uint16_t binprobe_machine = 0;

enum relocation binprobe_relocation(uint32_t type)
{
	(void)type;
	return RELOCATION_UNKNOWN;
}

uint64_t binprobe_thread_pointer(void) { return 0; }

void binprobe_tls_descriptor(void) {}

void binprobe_write_stub(uint8_t *code, uint32_t number) { (void)code, (void)number; }

bool binprobe_patch(uint8_t *entry, const void *stub)
{
	(void)entry, (void)stub;
	return false;
}
