// SPDX-License-Identifier: GPL-2.0-only
/*
 * The operations refuse 32-bit tasks with EOPNOTSUPP, whether the task or a worker would run them:
 * positions of ext4 would differ between the two.
 */
#include <sys/wait.h>

#include "lib/program32.h"
#include "lib/test.h"
#include "lib/transport.h"

/* See compat/ring32.c. */
static struct program32 program;

/* Returns the errno of a request by a 32-bit program. */
static int request(unsigned int opcode, unsigned int flags, const char *folder, const char *args)
{
	char opcode_text[16], flags_text[16];
	const char *const arguments[] = { opcode_text, flags_text, folder, args, NULL };
	int status;

	snprintf(opcode_text, sizeof(opcode_text), "%u", opcode);
	snprintf(flags_text, sizeof(flags_text), "%u", flags);
	status = program32_run(&program, arguments);
	MUST(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void run(struct env *env)
{
	struct transport transport;

	program = program32_find("ring32.program");
	transport_open(&transport, env->kind, 0);
	/* The program itself works. */
	MUST(request(IORING_OP_NOP, 0, NULL, NULL) == 0);
	for (unsigned int i = 0; i < OPCODES; i++) {
		static const unsigned int flags[] = { 0, IOSQE_ASYNC };

		if (!transport_opcode(i))
			continue;
		for (unsigned int j = 0; j < ARRAY_SIZE(flags); j++) {
			bool args = i == OPCODE_READDIRPLUS;
			int error = request(transport_opcode(i), flags[j], env->path, args ? "args" : NULL);

			CHECK(error == EOPNOTSUPP, "%s with flags %u: %s", transport_opcode_name(i), flags[j], strerror(error));
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
