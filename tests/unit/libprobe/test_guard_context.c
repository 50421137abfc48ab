/* What a fault's context says: where it was, and whether it was a write; on each processor, also under qemu-user. */
#include "../../lib/test.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

static const bool arch_known =
#if defined(PT2_ARCH_x86_64) || defined(PT2_ARCH_aarch64)
    true;
#else
    false; /* guard_portable.c knows nothing */
#endif
#if defined(PT2_ARCH_x86_64)
#include "../../../libprobe/guard_x86_64.c"
#elif defined(PT2_ARCH_aarch64)
#include "../../../libprobe/guard_aarch64.c"
#else
#include "../../../libprobe/guard_portable.c"
#endif

static sigjmp_buf back;
static uintptr_t ip;
static bool writes;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	guard_context(context, &ip, &writes, NULL);
	siglongjmp(back, 1);
}

static void tells_reads_from_writes(void **state)
{
	(void)state;
	if (!arch_known)
		skip();
	struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER}, was[2];
	volatile char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(page, MAP_FAILED);
	sigaction(SIGSEGV, &ours, &was[0]);
	sigaction(SIGBUS, &ours, &was[1]);
	for (int write = 0; write < 2; write++)
		for (int width = 1; width <= 8; width *= 2) {
			ip = 0;
			writes = !write;
			if (!sigsetjmp(back, 1)) {
				if (write)
					width == 1   ? (void)(page[8] = 1)
					: width == 2 ? (void)(*(volatile int16_t *)(page + 8) = 1)
					: width == 4 ? (void)(*(volatile float *)(page + 8) = 1)
						     : (void)(*(volatile int64_t *)(page + 8) = 1);
				else
					width == 1   ? (void)page[8]
					: width == 2 ? (void)*(volatile int16_t *)(page + 8)
					: width == 4 ? (void)*(volatile float *)(page + 8)
						     : (void)*(volatile int64_t *)(page + 8);
			}
			assert_true(ip != 0);
			assert_int_equal(writes, write);
		}
	sigaction(SIGSEGV, &was[0], NULL);
	sigaction(SIGBUS, &was[1], NULL);
	munmap((void *)page, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(tells_reads_from_writes)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
