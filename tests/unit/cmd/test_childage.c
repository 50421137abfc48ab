/* base/childage: who runs gets older by what it uses, who sleeps by the clock, who is stopped not at all. */
#include "../../lib/test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reduce/childage.h"

static pid_t start(void (*work)(void))
{
	pid_t pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		work();
		_exit(0);
	}
	setpgid(pid, pid);
	return pid;
}

static void end(pid_t pid)
{
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void spin(void)
{
	for (volatile int i = 1; i;)
		;
}
static void rest(void) { pause(); }
static void spin_below(void)
{
	if (fork() == 0)
		spin();
	pause();
}

static void wait_ms(unsigned ms) { usleep(ms * 1000); }

/* On a machine that has no time for it this takes longer, and ends all the same. */
static void who_runs(void **state)
{
	(void)state;
	static void (*const work[])(void) = {spin, spin_below};
	for (size_t i = 0; i < ARRAY_LEN(work); i++) {
		struct child_age a = {0};
		pid_t pid = start(work[i]);
		while (child_age_look(&a, pid) < 0.2)
			wait_ms(20);
		assert_true(a.cpu >= 0.1);
		end(pid);
	}
}

static void who_sleeps(void **state)
{
	(void)state;
	struct child_age a = {0};
	pid_t pid = start(rest);
	while (child_age_look(&a, pid) < 0.2)
		wait_ms(20);
	a.last -= 100; /* so much time goes by */
	assert_true(child_age_look(&a, pid) > 100);
	end(pid);
}

static void who_is_stopped(void **state)
{
	(void)state;
	struct child_age a = {0};
	int status;
	pid_t pid = start(spin);
	kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	child_age_look(&a, pid);
	a.last -= 100;
	assert_true(child_age_look(&a, pid) < 1);
	end(pid);
}

/* Gone: the clock. */
static void who_is_not_there(void **state)
{
	(void)state;
	struct child_age a = {0};
	pid_t pid = start(rest);
	end(pid);
	child_age_look(&a, pid);
	a.last -= 100;
	assert_true(child_age_look(&a, pid) > 99);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(who_runs), cmocka_unit_test(who_sleeps), cmocka_unit_test(who_is_stopped),
					   cmocka_unit_test(who_is_not_there)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
