// SPDX-License-Identifier: GPL-2.0-only
/* The folder that a test runs in, its child processes, and the counting of failures. */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "tree.h"

/* After this number of failures, further ones show nothing new. */
#define FAILURES_PRINTED 20

static unsigned int failures;
static pid_t owner;
static const char *folder;

static void print_failure(const char *file, int line, const char *format, va_list args)
{
	const char *base = strrchr(file, '/');

	printf(TEST_PREFIX "%s:%d: ", base ? base + 1 : file, line);
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

	printf(TEST_PREFIX "skipped: ");
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

const char *wrong(const char *format, ...)
{
	static __thread char message[1000];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	return message;
}

static void clean_up(void)
{
	if (getpid() != owner)
		return;
	if (chdir("/"))
		return;
	tree_remove(folder);
}

void test_run(struct env *env, const char *root)
{
	struct statfs fs;

	env->root = root;
	snprintf(env->path, sizeof(env->path), "%s/%s.%d", root, test.name, (int)getpid());
	MUST(mkdir(env->path, 0755) == 0);
	folder = env->path;
	owner = getpid();
	atexit(clean_up);
	env->fd = open(env->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	MUST(env->fd >= 0);
	MUST(fstatfs(env->fd, &fs) == 0);
	env->fs = fs.f_type;
	test.run(env);
}
