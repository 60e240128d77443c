// SPDX-License-Identifier: GPL-2.0-only
/* main() of every test. Options: -f tries everything instead of a sample. */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report.h"
#include "test.h"

unsigned int test_step(const struct env *env, unsigned int step)
{
	if (env->full)
		return step;
	/* A server's answer takes two switches between processes, a thread's as many. */
	return step * (env->fs == FS_FUSE ? 16 : env->kind == TRANSPORT_ASYNC ? 8 : 4);
}

/* Runs the test over one transport, in a process of its own. Returns its exit status. */
static int run(const char *root, enum transport_kind kind, bool full)
{
	static struct env env;
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		return EXIT_FAIL;
	if (!pid) {
		env.kind = kind;
		env.full = full;
		umask(022);
		signal(SIGPIPE, SIG_IGN);
		test_run(&env, root);
		exit(test_failures() ? EXIT_FAIL : EXIT_PASS);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAIL;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAIL;
}

int main(int argc, char **argv)
{
	unsigned int needs = test.needs ? test.needs : IORING_OP_GETDENTS;
	unsigned int kinds = test.kinds;
	bool full = false;
	int option;

	while ((option = getopt(argc, argv, "f")) >= 0) {
		if (option != 'f')
			return EXIT_FAIL;
		full = true;
	}
	if (test.one_kind)
		kinds &= -kinds;
	if (!transport_has(TRANSPORT_INLINE, needs))
		report_absent("the kernel lacks the operation");
	report_begin(__builtin_popcount(kinds));
	for (enum transport_kind kind = 0; kind < TRANSPORTS; kind++)
		if (kinds & (1u << kind))
			report(transport_name(kind),
			       run(argv[optind] ? argv[optind] : ".", kind, full));
	return report_end();
}
