// SPDX-License-Identifier: GPL-2.0-only
/*
 * A 32-bit program gets from the module by ioctl(2) what getdents64(2) gives it, with its shorter
 * cookies. Its rings are refused, whichever thread runs the request.
 */
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/test.h"
#include "lib/tree.h"

/* The program in the folder of this one: see compat/module32.c. */
static char program[512];

static void find_program(void)
{
	ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 32);

	MUST(len > 0);
	program[len] = '\0';
	strcpy(strrchr(program, '/') + 1, "module32.program");
	if (access(program, X_OK))
		test_skip("%s is missing", program);
}

static void run(struct env *env)
{
	struct transport transport;
	int status;
	pid_t child;

	find_program();
	transport_open(&transport, env->kind, 0);
	transport_close(&transport);
	tree_files(env->fd, "file", 300);
	fflush(stdout);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		execl(program, program, DEVICE_PATH, env->path, NULL);
		_exit(errno == ENOEXEC ? 254 : 255);
	}
	MUST(waitpid(child, &status, 0) == child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 254)
		test_skip("this kernel runs no 32-bit programs");
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status 0x%x (see compat/module32.c)", status);
}

const struct test test = {
	.name = "compat",
	.each_fs = true,
	.kinds = BY_MODULE,
	.one_kind = true,
	.run = run,
};
