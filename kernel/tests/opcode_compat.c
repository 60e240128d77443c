// SPDX-License-Identifier: GPL-2.0-only
/*
 * The probe shows the operations. They refuse 32-bit tasks with EOPNOTSUPP, whether the task or a
 * worker would run them: positions of ext4 would differ between the two.
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

/* The probe shows the operations that the kernel lists. */
static void announced(struct transport *transport)
{
	struct {
		struct io_uring_probe probe;
		struct io_uring_probe_op ops[256];
	} probe = { };

	MUST(ring_register(&transport->ring, IORING_REGISTER_PROBE, &probe, 256) >= 0);
	for (unsigned int i = 0; i < OPCODES; i++) {
		unsigned int number = transport_opcode(i);

		CHECK(!number || probe.ops[number].flags & IO_URING_OP_SUPPORTED,
		      "operation %u is not supported", number);
	}
}

static void run(struct env *env)
{
	struct transport transport;

	transport_open(&transport, env->kind, 0);
	announced(&transport);
	program = program32_find("ring32.program");
	/* The program itself works. */
	MUST(request(IORING_OP_NOP, 0, NULL, NULL) == 0);
	for (unsigned int i = 0; i < OPCODES; i++) {
		static const unsigned int flags[] = { 0, IOSQE_ASYNC };

		if (!transport_opcode(i))
			continue;
		for (unsigned int j = 0; j < ARRAY_SIZE(flags); j++) {
			bool args = i == OPCODE_READDIRPLUS;
			int error = request(transport_opcode(i), flags[j], env->path,
					    args ? "args" : NULL);

			CHECK(error == EOPNOTSUPP, "%s with flags %u: %s",
			      transport_opcode_name(i), flags[j], strerror(error));
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
