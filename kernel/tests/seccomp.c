// SPDX-License-Identifier: GPL-2.0-only
/*
 * Seccomp sees requests as what they are: ioctl(2) with the command's number, or io_uring_enter(2).
 * A filter of ioctl(2) stops them. A filter of getdents64(2) and statx(2) does not, which
 * docs/kernel.md says.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

static char buf[4096] __attribute__((aligned(8)));

#define LOAD(field)		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF_EQUAL(value, skip)	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)
#define RETURN(value)		BPF_STMT(BPF_RET | BPF_K, value)
#define REFUSE			RETURN(SECCOMP_RET_ERRNO | EACCES)
#define ALLOW			RETURN(SECCOMP_RET_ALLOW)

static void install(struct sock_filter *filter, unsigned short len)
{
	struct sock_fprog program = { .len = len, .filter = filter };

	MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		test_skip("no filters of seccomp: %s", strerror(errno));
}

/* Returns the result of a GETDENTS in a process with the filter. */
static long request(struct env *env)
{
	struct ringwalk_getdents dents = request_getdents(env->fd, buf, sizeof(buf));
	struct transport transport;
	long got;

	transport_open(&transport, env->kind, 0);
	dents.off = 0;
	got = transport_call(&transport, RINGWALK_IOC_GETDENTS, &dents);
	transport_close(&transport);
	return got;
}

static void names_refused(struct env *env)
{
	struct sock_filter filter[] = {
		LOAD(nr), IF_EQUAL(__NR_getdents64, 1), REFUSE, IF_EQUAL(__NR_statx, 1), REFUSE, ALLOW,
	};

	install(filter, ARRAY_SIZE(filter));
	CHECK(sys_getdents64(env->fd, buf, sizeof(buf)) == -EACCES, "the filter does not work");
	CHECK(request(env) > 0, "a filter of getdents64 has stopped a request");
}

/* The command's number is an argument, so that a filter can refuse one command alone. */
static void command_refused(struct env *env)
{
	struct sock_filter filter[] = {
		LOAD(nr), IF_EQUAL(__NR_ioctl, 3), LOAD(args[1]), IF_EQUAL((uint32_t)RINGWALK_IOC_GETDENTS, 1), REFUSE, ALLOW,
	};
	struct ringwalk_readdirplus plus = request_readdirplus(env->fd, buf, sizeof(buf));
	struct transport transport;

	install(filter, ARRAY_SIZE(filter));
	CHECK(request(env) == -EACCES, "a filter of the ioctl does not stop it");
	transport_open(&transport, env->kind, 0);
	plus.off = 0;
	CHECK(transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &plus) > 0, "a filter of one command has stopped another");
	transport_close(&transport);
}

static void rings_refused(struct env *env)
{
	struct sock_filter filter[] = { LOAD(nr), IF_EQUAL(__NR_io_uring_setup, 1), REFUSE, ALLOW };
	struct ring ring;

	(void)env;
	install(filter, ARRAY_SIZE(filter));
	CHECK(ring_open(&ring, 4, 0) == -EACCES, "a filter of io_uring_setup does not stop rings");
}

static void run(struct env *env)
{
	struct transport transport;

	transport_open(&transport, env->kind, 0);
	transport_close(&transport);
	tree_files(env->fd, "file", 3);
	IN_CHILD(names_refused, env);
	if (env->kind == TRANSPORT_IOCTL)
		IN_CHILD(command_refused, env);
	else
		IN_CHILD(rings_refused, env);
}

const struct test test = {
	.name = "seccomp",
	.kinds = BY_ALL,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
