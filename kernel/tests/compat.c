// SPDX-License-Identifier: GPL-2.0-only
/*
 * A 32-bit program gets from the module by ioctl(2) what getdents64(2) gives it, with its shorter
 * cookies. Its rings are refused, whichever thread runs the request.
 */
#include <sys/wait.h>

#include "lib/program32.h"
#include "lib/test.h"
#include "lib/tree.h"

static void run(struct env *env)
{
	const char *const arguments[] = { DEVICE_PATH, env->path, NULL };
	struct program32 program = program32_find("module32.program");
	struct transport transport;
	int status;

	transport_open(&transport, env->kind, 0);
	transport_close(&transport);
	tree_files(env->fd, "file", 300);
	status = program32_run(&program, arguments);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status 0x%x (see compat/module32.c)", status);
}

const struct test test = {
	.name = "compat",
	.each_fs = true,
	.kinds = BY_MODULE,
	.one_kind = true,
	.run = run,
};
