// SPDX-License-Identifier: GPL-2.0-only
/*
 * A FUSE server that mirrors a folder, as a writable FUSE file system for the tests. It uses
 * /dev/fuse directly, without a library.
 *
 * fuse_mirror SOURCE MOUNTPOINT
 *
 * It mounts, goes into the background, and serves until it is unmounted.
 *
 * An inode is an O_PATH descriptor of the source, kept while the kernel knows the inode. Its number
 * is the source's. Operations on the file itself go through /proc/self/fd. One thread answers the
 * kernel's requests one after the other.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "mirror/mirror.h"

int device;
char answer[REQUEST_MAX];

void reply(const struct fuse_in_header *in, int error, const void *data, size_t len)
{
	static char out[REQUEST_MAX + sizeof(struct fuse_out_header)];
	struct fuse_out_header header = { .len = sizeof(header) + len, .error = error, .unique = in->unique };

	memcpy(out, &header, sizeof(header));
	if (len)
		memcpy(out + sizeof(header), data, len);
	/* ENOENT: the request was interrupted meanwhile. */
	if (write(device, out, header.len) < 0 && errno != ENOENT)
		perror("fuse_mirror: write");
}

void reply_status(const struct fuse_in_header *in, int ret)
{
	reply(in, ret < 0 ? -errno : 0, NULL, 0);
}

static void init(const struct fuse_in_header *in, const struct fuse_init_in *request)
{
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION, .minor = 31, .max_readahead = request->max_readahead, .max_write = 128 << 10,
		.flags = FUSE_BIG_WRITES | FUSE_DONT_MASK | FUSE_POSIX_ACL | FUSE_PARALLEL_DIROPS, .time_gran = 1,
		.max_background = 16, .congestion_threshold = 12,
	};

	if (request->minor < out.minor)
		out.minor = request->minor;
	reply(in, 0, &out, sizeof(out));
}

static void file_system(const struct fuse_in_header *in)
{
	struct fuse_statfs_out out = { };
	struct statfs fs;

	if (fstatfs(fd_of(in->nodeid), &fs)) {
		reply_status(in, -1);
		return;
	}
	out.st = (struct fuse_kstatfs){ .blocks = fs.f_blocks, .bfree = fs.f_bfree, .bavail = fs.f_bavail, .files = fs.f_files,
					.ffree = fs.f_ffree, .bsize = fs.f_bsize, .namelen = 255, .frsize = fs.f_frsize };
	reply(in, 0, &out, sizeof(out));
}

static void forget_many(const struct fuse_batch_forget_in *request)
{
	const struct fuse_forget_one *one = (const void *)(request + 1);

	for (uint32_t i = 0; i < request->count; i++)
		forget(one[i].nodeid, one[i].nlookup);
}

static void serve(const struct fuse_in_header *in, const void *body)
{
	if (serve_names(in, body) || serve_attributes(in, body) || serve_files(in, body))
		return;
	switch (in->opcode) {
	case FUSE_INIT:
		init(in, body);
		return;
	case FUSE_STATFS:
		file_system(in);
		return;
	case FUSE_FORGET:
		forget(in->nodeid, ((const struct fuse_forget_in *)body)->nlookup);
		return;
	case FUSE_BATCH_FORGET:
		forget_many(body);
		return;
	case FUSE_INTERRUPT:
		/* No request takes this long. */
		return;
	case FUSE_DESTROY:
		reply(in, 0, NULL, 0);
		return;
	default:
		reply(in, -ENOSYS, NULL, 0);
	}
}

/* See stay_beside_server() in lib/main.c. */
static void stay_on_first_processor(void)
{
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
}

static void prepare(const char *source)
{
	struct rlimit limit = { 1 << 20, 1 << 20 };
	struct stat stat;
	int root = open(source, O_PATH | O_DIRECTORY | O_CLOEXEC);

	/* A descriptor for each inode that the kernel knows. */
	if (setrlimit(RLIMIT_NOFILE, &limit))
		perror("fuse_mirror: RLIMIT_NOFILE");
	if (root < 0 || fstat(root, &stat)) {
		perror(source);
		exit(1);
	}
	umask(0);
	stay_on_first_processor();
	nodes_begin(root, stat.st_ino);
}

int main(int argc, char **argv)
{
	static char request[REQUEST_MAX];
	char options[128];

	if (argc != 3) {
		fprintf(stderr, "usage: fuse_mirror SOURCE MOUNTPOINT\n");
		return 2;
	}
	prepare(argv[1]);
	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=0,group_id=0,default_permissions,allow_other", device);
	if (device < 0 || mount("mirror", argv[2], "fuse", 0, options)) {
		perror("fuse_mirror: mount");
		return 1;
	}
	/* The kernel keeps requests until the server reads them, so the mount is usable at once. */
	if (daemon(0, 1))
		return 1;
	for (;;) {
		ssize_t got = read(device, request, sizeof(request));

		if (got >= (ssize_t)sizeof(struct fuse_in_header))
			serve((const void *)request, request + sizeof(struct fuse_in_header));
		else if (got < 0 && errno == ENODEV)
			return 0;
		else if (got < 0 && errno != EINTR && errno != EAGAIN && errno != ENOENT)
			return 1;
	}
}
