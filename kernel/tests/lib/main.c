// SPDX-License-Identifier: GPL-2.0-only
/*
 * main() of every test, and its options.
 *
 * NAME --scope			what the runner must know: "each|one each|one soak|plain KINDS"
 * NAME --transports		those that this kernel has; status 1 if it has none
 * NAME --operations		how many operations for directories this kernel has
 * NAME --faults		reads /dev/kmsg, its standard input, to the end; status 3 if no
 *				fault is reported there and nothing was lost, else 1 and why
 * NAME [--transport KIND] [--full] [--seconds N] [--seed N] ROOT
 */
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "kernel_log.h"
#include "test.h"

/* Of --faults: no status of a program that could not run. */
#define EXIT_NO_FAULT 3

unsigned int test_step(const struct env *env, unsigned int step)
{
	bool threads = env->kind == TRANSPORT_WORKER || env->kind == TRANSPORT_ASYNC ||
		       env->kind == TRANSPORT_OPCODE_ASYNC;

	/* A server's answer takes two switches between processes, a thread's as many. */
	if (env->full)
		return step * (env->fs == FS_FUSE ? 4 : 1);
	return step * (env->fs == FS_FUSE ? 16 : threads ? 8 : 4);
}

/*
 * On the same processor as the server a request is a switch between two processes. On two
 * processors each of them sleeps and must be woken, which takes long on emulated processors of a
 * busy machine.
 */
static void stay_beside_server(const char *root)
{
	struct statfs fs;
	cpu_set_t first;

	MUST(statfs(root, &fs) == 0);
	if (fs.f_type != FS_FUSE)
		return;
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
}

static void print_scope(void)
{
	printf("%s %s %s", test.each_fs ? "each" : "one", test.one_kind ? "one" : "each",
	       test.soak ? "soak" : "plain");
	for (enum transport_kind kind = 0; kind < TRANSPORTS; kind++)
		if (test.kinds & (1u << kind))
			printf(" %s", transport_name(kind));
	putchar('\n');
}

static int print_transports(void)
{
	int found = 0;

	for (enum transport_kind kind = 0; kind < TRANSPORTS; kind++)
		if (transport_available(kind))
			printf("%s%s", found++ ? " " : "", transport_name(kind));
	putchar('\n');
	return found ? EXIT_PASS : EXIT_FAIL;
}

static int print_faults(void)
{
	int found = kernel_log_faults(STDIN_FILENO);

	if (found < 0)
		printf("/dev/kmsg: %s\n", strerror(-found));
	return found ? EXIT_FAIL : EXIT_NO_FAULT;
}

static void usage(void) __attribute__((noreturn));

static void usage(void)
{
	fprintf(stderr,
		"usage: %s --scope | --transports | --operations | --faults | [--transport KIND] [--full] [--seconds N] [--seed N] ROOT\n",
		test.name);
	exit(2);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "scope", no_argument, NULL, 's' },
		{ "transports", no_argument, NULL, 'T' },
		{ "operations", no_argument, NULL, 'o' },
		{ "faults", no_argument, NULL, 'l' },
		{ "transport", required_argument, NULL, 't' },
		{ "full", no_argument, NULL, 'f' },
		{ "seconds", required_argument, NULL, 'n' },
		{ "seed", required_argument, NULL, 'r' },
		{ }
	};
	static struct env the_env;
	struct env *env = &the_env;
	bool transport_given = false;
	int c;

	setvbuf(stdout, NULL, _IOLBF, 0);
	env->seconds = 10;
	env->seed = time(NULL);
	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (c) {
		case 's':
			print_scope();
			return 0;
		case 'T':
			return print_transports();
		case 'o':
			printf("%u\n", transport_opcodes());
			return 0;
		case 'l':
			return print_faults();
		case 't':
			if (!transport_by_name(optarg, &env->kind))
				usage();
			transport_given = true;
			break;
		case 'f':
			env->full = true;
			break;
		case 'n':
			env->seconds = strtoul(optarg, NULL, 0);
			break;
		case 'r':
			env->seed = strtoull(optarg, NULL, 0);
			break;
		default:
			usage();
		}
	}
	if (optind + 1 != argc)
		usage();
	while (!transport_given && env->kind < TRANSPORTS - 1 && !(test.kinds & (1u << env->kind)))
		env->kind++;
	if (!(test.kinds & (1u << env->kind)))
		test_skip("this test is not for the transport %s", transport_name(env->kind));
	/* Before a test changes to a root without /proc. */
	if (!transport_has(env->kind, test.needs))
		test_skip("the kernel lacks %s", transport_opcode_name(test.needs));
	umask(022);
	signal(SIGPIPE, SIG_IGN);
	if (!env->full)
		stay_beside_server(argv[optind]);
	test_run(env, argv[optind]);
	return test_failures() ? EXIT_FAIL : EXIT_PASS;
}
