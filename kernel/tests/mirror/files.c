// SPDX-License-Identifier: GPL-2.0-only
/* Requests about open files and folders. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mirror.h"

static void open_node(const struct fuse_in_header *in, int flags)
{
	struct fuse_open_out out = { };
	int fd = open(path_of(in->nodeid), (flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW)) | O_CLOEXEC);

	if (fd < 0) {
		reply_status(in, -1);
		return;
	}
	out.fh = fd;
	reply(in, 0, &out, sizeof(out));
}

static void create(const struct fuse_in_header *in, const struct fuse_create_in *request)
{
	const char *name = (const char *)(request + 1);
	struct {
		struct fuse_entry_out entry;
		struct fuse_open_out open;
	} out = { };
	int fd = openat(fd_of(in->nodeid), name, request->flags | O_CREAT | O_NOFOLLOW | O_CLOEXEC, request->mode);

	if (give_to_caller(in, name, fd) < 0 || enter(in->nodeid, name, &out.entry) < 0) {
		reply_status(in, -1);
		if (fd >= 0)
			close(fd);
		return;
	}
	out.open.fh = fd;
	reply(in, 0, &out, sizeof(out));
}

static void read_folder(const struct fuse_in_header *in, const struct fuse_read_in *request)
{
	static char records[65536] __attribute__((aligned(8)));
	size_t room = request->size < sizeof(answer) ? request->size : sizeof(answer), used = 0;
	long got, at;

	if (lseek(request->fh, request->offset, SEEK_SET) < 0) {
		reply_status(in, -1);
		return;
	}
	/* An entry that does not fit is read again: the kernel sends the position. */
	got = syscall(__NR_getdents64, request->fh, records, room < sizeof(records) ? room : sizeof(records));
	if (got < 0 && errno != EINVAL) {
		reply_status(in, -1);
		return;
	}
	for (at = 0; at < got;) {
		struct dirent64 *record = (void *)(records + at);
		size_t len = strlen(record->d_name), need = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + len);
		struct fuse_dirent out = { .ino = record->d_ino, .off = record->d_off, .namelen = len, .type = record->d_type };

		if (used + need > room)
			break;
		memset(answer + used, 0, need);
		memcpy(answer + used, &out, FUSE_NAME_OFFSET);
		memcpy(answer + used + FUSE_NAME_OFFSET, record->d_name, len);
		used += need;
		at += record->d_reclen;
	}
	reply(in, 0, answer, used);
}

static void read_file(const struct fuse_in_header *in, const struct fuse_read_in *request)
{
	uint32_t size = request->size < sizeof(answer) ? request->size : sizeof(answer);
	ssize_t got = pread(request->fh, answer, size, request->offset);

	reply(in, got < 0 ? -errno : 0, answer, got < 0 ? 0 : got);
}

static void write_file(const struct fuse_in_header *in, const struct fuse_write_in *request)
{
	ssize_t done = pwrite(request->fh, request + 1, request->size, request->offset);
	struct fuse_write_out out = { .size = done };

	reply(in, done < 0 ? -errno : 0, &out, done < 0 ? 0 : sizeof(out));
}

bool serve_files(const struct fuse_in_header *in, const void *body)
{
	switch (in->opcode) {
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		open_node(in, ((const struct fuse_open_in *)body)->flags);
		return true;
	case FUSE_CREATE:
		create(in, body);
		return true;
	case FUSE_READDIR:
		read_folder(in, body);
		return true;
	case FUSE_READ:
		read_file(in, body);
		return true;
	case FUSE_WRITE:
		write_file(in, body);
		return true;
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
		close(((const struct fuse_release_in *)body)->fh);
		reply(in, 0, NULL, 0);
		return true;
	case FUSE_FSYNC:
	case FUSE_FSYNCDIR:
		/* st_blocks is known only after the blocks are allocated. */
		reply_status(in, fsync(((const struct fuse_fsync_in *)body)->fh));
		return true;
	case FUSE_FLUSH:
		reply(in, 0, NULL, 0);
		return true;
	}
	return false;
}
