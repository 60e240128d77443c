// SPDX-License-Identifier: GPL-2.0-only
#include <sys/wait.h>
#include <unistd.h>

#include "program32.h"
#include "sys.h"
#include "test.h"

#define ARGUMENTS_MOST	8
/* The exit status of a child that cannot start the program. */
#define NO_32_BIT	254
#define NOT_STARTED	255

struct program32 program32_find(const char *name)
{
	struct program32 program;

	path_beside_program(program.path, sizeof(program.path), name);
	if (access(program.path, X_OK))
		test_skip("%s is missing", program.path);
	return program;
}

int program32_run(const struct program32 *program, const char *const *arguments)
{
	const char *argv[ARGUMENTS_MOST] = { program->path };
	int status;
	pid_t child;

	for (size_t i = 0; arguments[i]; i++) {
		MUST(i + 2 < ARGUMENTS_MOST);
		argv[i + 1] = arguments[i];
	}
	fflush(stdout);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		execv(program->path, (char *const *)argv);
		_exit(errno == ENOEXEC ? NO_32_BIT : NOT_STARTED);
	}
	MUST(waitpid(child, &status, 0) == child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_32_BIT)
		test_skip("this kernel runs no 32-bit programs");
	return status;
}
