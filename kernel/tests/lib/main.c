// SPDX-License-Identifier: GPL-2.0-only
/*
 * main() of every test: options, the folder that the test runs in, counting of failures.
 *
 * NAME --scope			what the runner must know: "each|one each|one soak|plain KINDS"
 * NAME --transports		those that this kernel has; status 1 if it has none
 * NAME --operations		how many operations for directories this kernel has
 * NAME --faults		reads /dev/kmsg, its standard input, to the end; status 3 if no
 *				fault is reported there and nothing was lost, else 1 and why
 * NAME [--transport KIND] [--full] [--seconds N] [--seed N] ROOT
 */
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel_log.h"
#include "test.h"
#include "tree.h"

/* Of --faults: no status of a program that could not run. */
#define EXIT_NO_FAULT 3
/* After this number of failures, further ones show nothing new. */
#define FAILURES_PRINTED 20

static unsigned int failures;
static pid_t owner;
static struct env the_env;

static void print_failure(const char *file, int line, const char *format, va_list args)
{
	const char *base = strrchr(file, '/');

	printf("%s:%d: ", base ? base + 1 : file, line);
	vprintf(format, args);
	putchar('\n');
	fflush(stdout);
}

void test_failed(const char *file, int line, const char *format, ...)
{
	va_list args;

	/* Threads may fail too. */
	if (__atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED) > FAILURES_PRINTED)
		return;
	va_start(args, format);
	print_failure(file, line, format, args);
	va_end(args);
}

static void leave(int status) __attribute__((noreturn));

static void leave(int status)
{
	fflush(stdout);
	if (getpid() == owner)
		exit(status);
	_exit(status);
}

void test_stop(const char *file, int line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_failure(file, line, format, args);
	va_end(args);
	leave(EXIT_FAIL);
}

void test_skip(const char *format, ...)
{
	va_list args;

	printf("skipped: ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	/* Failures from before stay counted. */
	leave(failures ? EXIT_FAIL : EXIT_SKIP);
}

unsigned int test_failures(void)
{
	return failures;
}

void test_child_exit(void)
{
	fflush(stdout);
	_exit(failures ? EXIT_FAIL : EXIT_PASS);
}

int test_wait_child(const char *file, int line, int pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			test_stop(file, line, "waitpid: %s", strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIP)
		leave(failures ? EXIT_FAIL : EXIT_SKIP);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		test_failed(file, line, "a child process failed (status 0x%x)", status);
	return status;
}

void test_in_child(const char *file, int line, void (*run)(struct env *env), struct env *env)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		test_stop(file, line, "fork: %s", strerror(errno));
	if (!pid) {
		failures = 0;
		run(env);
		test_child_exit();
	}
	test_wait_child(file, line, pid);
}

unsigned int test_step(const struct env *env, unsigned int step)
{
	bool threads = env->kind == TRANSPORT_WORKER || env->kind == TRANSPORT_ASYNC || env->kind == TRANSPORT_OPCODE_ASYNC;

	if (env->full)
		return step;
	/* A server's answer takes two switches between processes, a thread's as many. */
	return step * (env->fs == FS_FUSE ? 16 : threads ? 8 : 4);
}

static void clean_up(void)
{
	if (getpid() != owner)
		return;
	if (chdir("/"))
		return;
	tree_remove(the_env.path);
}

/*
 * On the same processor as the server a request is a switch between two processes. On two
 * processors each of them sleeps and must be woken, which takes long on emulated processors of a
 * busy machine.
 */
static void stay_beside_server(const struct env *env)
{
	cpu_set_t first;

	if (env->fs != FS_FUSE || env->full)
		return;
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
}

static void make_folder(struct env *env, const char *root)
{
	struct statfs fs;

	env->root = root;
	snprintf(env->path, sizeof(env->path), "%s/%s.%d", root, test.name, (int)getpid());
	MUST(mkdir(env->path, 0755) == 0);
	owner = getpid();
	atexit(clean_up);
	env->fd = open(env->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	MUST(env->fd >= 0);
	MUST(fstatfs(env->fd, &fs) == 0);
	env->fs = fs.f_type;
	stay_beside_server(env);
}

static void print_scope(void)
{
	printf("%s %s %s", test.each_fs ? "each" : "one", test.one_kind ? "one" : "each", test.soak ? "soak" : "plain");
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
	fprintf(stderr, "usage: %s --scope | --transports | --operations | --faults | [--transport KIND] [--full] [--seconds N] [--seed N] ROOT\n", test.name);
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
	make_folder(env, argv[optind]);
	test.run(env);
	return test_failures() ? EXIT_FAIL : EXIT_PASS;
}
