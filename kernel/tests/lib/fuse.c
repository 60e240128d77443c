// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuse.h"
#include "sys.h"

#define OPTIONS_MAX	16

static void serve(const struct fuse *fuse, const char *const *options, int input)
{
	const char *words[OPTIONS_MAX + 4];
	unsigned int count = 0;
	char program[512];

	MUST(dup2(input, 0) == 0);
	path_beside_program(program, sizeof(program), "fuse_readdir");
	words[count++] = program;
	while (*options) {
		MUST(count <= OPTIONS_MAX);
		words[count++] = *options++;
	}
	words[count++] = fuse->path;
	/* The server lives as long as its command, which lives until its input ends. */
	words[count++] = "cat";
	words[count] = NULL;
	execv(program, (char **)words);
	_exit(127);
}

void fuse_open(struct fuse *fuse, const struct env *env, const char *const *options)
{
	struct stat outside, now_there;
	double until = now() + 20;
	int input[2], status;

	snprintf(fuse->path, sizeof(fuse->path), "%s/served", env->path);
	MUST(mkdir(fuse->path, 0755) == 0 || errno == EEXIST);
	MUST(stat(fuse->path, &outside) == 0 && pipe2(input, O_CLOEXEC) == 0);
	fflush(stdout);
	fuse->server = fork();
	MUST(fuse->server >= 0);
	if (!fuse->server)
		serve(fuse, options, input[0]);
	close(input[0]);
	fuse->end = input[1];
	for (; now() < until; usleep(5000)) {
		if (waitpid(fuse->server, &status, WNOHANG)) {
			MUST(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIP);
			test_skip("the kernel has no FUSE");
		}
		if (stat(fuse->path, &now_there) == 0 && now_there.st_dev != outside.st_dev)
			return;
	}
	test_stop(__FILE__, __LINE__, "the server of FUSE did not mount");
}

void fuse_close(struct fuse *fuse)
{
	int status;

	close(fuse->end);
	MUST(waitpid(fuse->server, &status, 0) == fuse->server && status == 0);
}

void fuse_abort(struct fuse *fuse)
{
	kill(fuse->server, SIGKILL);
	MUST(waitpid(fuse->server, NULL, 0) == fuse->server);
	close(fuse->end);
	MUST(umount2(fuse->path, MNT_DETACH) == 0);
}
