// SPDX-License-Identifier: GPL-2.0-only
/*
 * The operations refuse 32-bit tasks with EOPNOTSUPP, whether the task or a worker would run them:
 * positions of ext4 would differ between the two.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "lib/test.h"
#include "lib/transport.h"

/* The program in the folder of this one: see compat/ring32.c. */
static char program[512];

static void find_program(void)
{
	ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 32);

	MUST(len > 0);
	program[len] = '\0';
	strcpy(strrchr(program, '/') + 1, "ring32.program");
	if (access(program, X_OK))
		test_skip("%s is missing", program);
}

/* Returns the errno of a request by a 32-bit program. */
static int request(unsigned int opcode, unsigned int flags, const char *folder, const char *args)
{
	char opcode_text[16], flags_text[16];
	int status;
	pid_t pid;

	snprintf(opcode_text, sizeof(opcode_text), "%u", opcode);
	snprintf(flags_text, sizeof(flags_text), "%u", flags);
	fflush(stdout);
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		execl(program, program, opcode_text, flags_text, folder, args, NULL);
		_exit(errno == ENOEXEC ? 254 : 255);
	}
	MUST(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	if (WEXITSTATUS(status) == 254)
		test_skip("this kernel runs no 32-bit programs");
	return WEXITSTATUS(status);
}

static void run(struct env *env)
{
	static const char *const names[] = { "GETDENTS", "READDIRPLUS", "DIR_READAHEAD" };
	struct transport transport;

	find_program();
	transport_open(&transport, env->kind, 0);
	/* The program itself works. */
	MUST(request(IORING_OP_NOP, 0, NULL, NULL) == 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		static const unsigned int flags[] = { 0, IOSQE_ASYNC };

		for (unsigned int j = 0; j < ARRAY_SIZE(flags); j++) {
			int error = request(transport.first_opcode + i, flags[j], env->path, i == 1 ? "args" : NULL);

			CHECK(error == EOPNOTSUPP, "%s with flags %u: %s", names[i], flags[j], strerror(error));
		}
	}
	transport_close(&transport);
}

const struct test test = {
	.name = "opcode_compat",
	.kinds = BY_OPCODE,
	.one_kind = true,
	.run = run,
};
