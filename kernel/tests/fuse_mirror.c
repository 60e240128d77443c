// SPDX-License-Identifier: GPL-2.0-only
/*
 * A FUSE server that mirrors a folder, so that the tests have a FUSE file system to write to: by /dev/fuse itself, without a library.
 *
 * fuse_mirror SOURCE MOUNTPOINT	mounts, goes into the background, and serves until it is unmounted
 *
 * An inode is an O_PATH descriptor of the source, kept for as long as the kernel knows it; its number is the source's. What needs
 * the file itself goes by /proc/self/fd. One thread: requests of the kernel are answered one after the other.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <linux/fuse.h>

/* Requests are at most this long: write requests of 128 KiB with their header. */
#define REQUEST_MAX ((128 << 10) + 4096)

/* The source's own numbers. Found by nodeid, which is the index here; by inode number through a chain. */
struct node {
	int fd;
	uint64_t ino;
	uint64_t lookups;
	uint64_t next;
};

#define BUCKETS 4096

static struct node *nodes;
static uint64_t node_count, node_room, free_node;
static uint64_t buckets[BUCKETS];
static int device;
static char answer[REQUEST_MAX];

static void reply(const struct fuse_in_header *in, int error, const void *data, size_t len)
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

static void reply_status(const struct fuse_in_header *in, int ret)
{
	reply(in, ret < 0 ? -errno : 0, NULL, 0);
}

static int fd_of(uint64_t nodeid)
{
	return nodes[nodeid].fd;
}

/* The path by which a descriptor's file, not the link to it, is opened or changed. */
static const char *path_of(uint64_t nodeid)
{
	static char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd_of(nodeid));
	return path;
}

static struct fuse_attr attr_of(const struct stat *stat)
{
	return (struct fuse_attr){
		.ino = stat->st_ino, .size = stat->st_size, .blocks = stat->st_blocks, .atime = stat->st_atim.tv_sec,
		.mtime = stat->st_mtim.tv_sec, .ctime = stat->st_ctim.tv_sec, .atimensec = stat->st_atim.tv_nsec,
		.mtimensec = stat->st_mtim.tv_nsec, .ctimensec = stat->st_ctim.tv_nsec, .mode = stat->st_mode,
		.nlink = stat->st_nlink, .uid = stat->st_uid, .gid = stat->st_gid,
		.rdev = stat->st_rdev,
		.blksize = stat->st_blksize,
	};
}

static uint64_t find_node(uint64_t ino)
{
	uint64_t id = buckets[ino % BUCKETS];

	while (id && nodes[id].ino != ino)
		id = nodes[id].next;
	return id;
}

static uint64_t add_node(int fd, uint64_t ino)
{
	uint64_t id = free_node;

	if (id) {
		free_node = nodes[id].next;
	} else {
		if (node_count == node_room) {
			node_room = node_room ? 2 * node_room : 1024;
			nodes = realloc(nodes, node_room * sizeof(*nodes));
			if (!nodes)
				abort();
		}
		id = node_count++;
	}
	nodes[id] = (struct node){ .fd = fd, .ino = ino, .next = buckets[ino % BUCKETS] };
	buckets[ino % BUCKETS] = id;
	return id;
}

static void forget(uint64_t id, uint64_t lookups)
{
	uint64_t *link;

	if (id == FUSE_ROOT_ID)
		return;
	nodes[id].lookups -= lookups;
	if (nodes[id].lookups)
		return;
	for (link = &buckets[nodes[id].ino % BUCKETS]; *link != id; link = &nodes[*link].next)
		;
	*link = nodes[id].next;
	close(nodes[id].fd);
	nodes[id] = (struct node){ .fd = -1, .next = free_node };
	free_node = id;
}

/* The node of @name, with one more lookup by the kernel. 0 or -1 with errno. */
static int enter(uint64_t parent, const char *name, struct fuse_entry_out *entry)
{
	int fd = openat(fd_of(parent), name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat stat;
	uint64_t id;

	if (fd < 0)
		return -1;
	if (fstat(fd, &stat)) {
		close(fd);
		return -1;
	}
	id = find_node(stat.st_ino);
	if (id)
		close(fd);
	else
		id = add_node(fd, stat.st_ino);
	nodes[id].lookups++;
	/* A second, as most servers say: nobody but the kernel changes the source. */
	*entry = (struct fuse_entry_out){ .nodeid = id, .entry_valid = 1, .attr_valid = 1, .attr = attr_of(&stat) };
	return 0;
}

static void reply_entry(const struct fuse_in_header *in, int made, const char *name)
{
	struct fuse_entry_out entry;

	if (made < 0 || enter(in->nodeid, name, &entry) < 0)
		reply_status(in, -1);
	else
		reply(in, 0, &entry, sizeof(entry));
}

static void reply_attr(const struct fuse_in_header *in)
{
	struct fuse_attr_out out = { .attr_valid = 1 };
	struct stat stat;

	if (fstat(fd_of(in->nodeid), &stat)) {
		reply_status(in, -1);
		return;
	}
	out.attr = attr_of(&stat);
	reply(in, 0, &out, sizeof(out));
}

static struct timespec time_to_set(unsigned int valid, unsigned int bit, unsigned int now_bit, uint64_t sec, uint32_t nsec)
{
	if (valid & now_bit)
		return (struct timespec){ .tv_nsec = UTIME_NOW };
	if (!(valid & bit))
		return (struct timespec){ .tv_nsec = UTIME_OMIT };
	return (struct timespec){ .tv_sec = sec, .tv_nsec = nsec };
}

static void set_attr(const struct fuse_in_header *in, const struct fuse_setattr_in *set)
{
	const char *path = path_of(in->nodeid);
	int ret = 0;

	if (set->valid & (FATTR_UID | FATTR_GID))
		ret = fchownat(fd_of(in->nodeid), "", set->valid & FATTR_UID ? set->uid : -1u,
			       set->valid & FATTR_GID ? set->gid : -1u, AT_EMPTY_PATH);
	if (!ret && set->valid & FATTR_MODE)
		ret = chmod(path, set->mode & 07777);
	if (!ret && set->valid & FATTR_SIZE)
		ret = truncate(path, set->size);
	if (!ret && set->valid & (FATTR_ATIME | FATTR_MTIME)) {
		struct timespec times[2] = {
			time_to_set(set->valid, FATTR_ATIME, FATTR_ATIME_NOW, set->atime, set->atimensec),
			time_to_set(set->valid, FATTR_MTIME, FATTR_MTIME_NOW, set->mtime, set->mtimensec),
		};

		ret = utimensat(AT_FDCWD, path, times, 0);
	}
	if (ret)
		reply_status(in, -1);
	else
		reply_attr(in);
}

/* What is made belongs to the caller. */
static int give_to_caller(const struct fuse_in_header *in, const char *name, int made)
{
	if (made < 0 || (!in->uid && !in->gid))
		return made;
	return fchownat(fd_of(in->nodeid), name, in->uid, in->gid, AT_SYMLINK_NOFOLLOW);
}

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
	/* What does not fit is read again: the kernel says from where. */
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

/* getxattr and listxattr: the size if the caller asks for it, else the bytes. */
static void reply_bytes(const struct fuse_in_header *in, uint32_t size, ssize_t got)
{
	struct fuse_getxattr_out out = { .size = got };

	if (got < 0)
		reply_status(in, -1);
	else if (!size)
		reply(in, 0, &out, sizeof(out));
	else
		reply(in, 0, answer, got);
}

/* Links and special files have their attributes too; /proc/self/fd leads to the node itself. */
static void attributes(const struct fuse_in_header *in, const void *body)
{
	const struct fuse_getxattr_in *get = body;
	const struct fuse_setxattr_in *set = body;
	const char *path = path_of(in->nodeid), *name;
	/* Without FUSE_SETXATTR_EXT the structure is shorter. */
	const char *set_name = (const char *)body + FUSE_COMPAT_SETXATTR_IN_SIZE;
	uint32_t size = get->size < sizeof(answer) ? get->size : sizeof(answer);

	name = (const char *)(get + 1);
	switch (in->opcode) {
	case FUSE_GETXATTR:
		reply_bytes(in, get->size, getxattr(path, name, answer, size));
		return;
	case FUSE_LISTXATTR:
		reply_bytes(in, get->size, listxattr(path, answer, size));
		return;
	case FUSE_SETXATTR:
		reply_status(in, setxattr(path, set_name, set_name + strlen(set_name) + 1, set->size, set->flags));
		return;
	case FUSE_REMOVEXATTR:
		reply_status(in, removexattr(path, body));
		return;
	}
}

static void rename_entry(const struct fuse_in_header *in, uint64_t folder, unsigned int flags, const char *name)
{
	reply_status(in, syscall(__NR_renameat2, fd_of(in->nodeid), name, fd_of(folder), name + strlen(name) + 1, flags));
}

static void link_entry(const struct fuse_in_header *in, const struct fuse_link_in *request)
{
	const char *name = (const char *)(request + 1);

	reply_entry(in, linkat(AT_FDCWD, path_of(request->oldnodeid), fd_of(in->nodeid), name, AT_SYMLINK_FOLLOW), name);
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

static void read_link(const struct fuse_in_header *in)
{
	ssize_t len = readlinkat(fd_of(in->nodeid), "", answer, sizeof(answer));

	reply(in, len < 0 ? -errno : 0, answer, len < 0 ? 0 : len);
}

static void forget_many(const struct fuse_batch_forget_in *request)
{
	const struct fuse_forget_one *one = (const void *)(request + 1);

	for (uint32_t i = 0; i < request->count; i++)
		forget(one[i].nodeid, one[i].nlookup);
}

static bool serve_names(const struct fuse_in_header *in, const void *body)
{
	const struct fuse_mknod_in *mknod = body;
	const struct fuse_mkdir_in *mkdir = body;
	const char *name = body;
	int folder = fd_of(in->nodeid);

	switch (in->opcode) {
	case FUSE_LOOKUP:
		reply_entry(in, 0, name);
		return true;
	case FUSE_MKNOD:
		name = (const char *)(mknod + 1);
		reply_entry(in, give_to_caller(in, name, mknodat(folder, name, mknod->mode, mknod->rdev)), name);
		return true;
	case FUSE_MKDIR:
		name = (const char *)(mkdir + 1);
		reply_entry(in, give_to_caller(in, name, mkdirat(folder, name, mkdir->mode)), name);
		return true;
	case FUSE_SYMLINK:
		reply_entry(in, give_to_caller(in, name, symlinkat(name + strlen(name) + 1, folder, name)), name);
		return true;
	case FUSE_LINK:
		link_entry(in, body);
		return true;
	case FUSE_UNLINK:
		reply_status(in, unlinkat(folder, name, 0));
		return true;
	case FUSE_RMDIR:
		reply_status(in, unlinkat(folder, name, AT_REMOVEDIR));
		return true;
	case FUSE_RENAME:
		rename_entry(in, ((const struct fuse_rename_in *)body)->newdir, 0, name + sizeof(struct fuse_rename_in));
		return true;
	case FUSE_RENAME2:
		rename_entry(in, ((const struct fuse_rename2_in *)body)->newdir, ((const struct fuse_rename2_in *)body)->flags,
			     name + sizeof(struct fuse_rename2_in));
		return true;
	}
	return false;
}

static bool serve_files(const struct fuse_in_header *in, const void *body)
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
	case FUSE_FLUSH:
	case FUSE_FSYNC:
	case FUSE_FSYNCDIR:
		reply(in, 0, NULL, 0);
		return true;
	}
	return false;
}

static void serve(const struct fuse_in_header *in, const void *body)
{
	if (serve_names(in, body) || serve_files(in, body))
		return;
	switch (in->opcode) {
	case FUSE_INIT:
		init(in, body);
		return;
	case FUSE_GETATTR:
		reply_attr(in);
		return;
	case FUSE_SETATTR:
		set_attr(in, body);
		return;
	case FUSE_READLINK:
		read_link(in);
		return;
	case FUSE_GETXATTR:
	case FUSE_LISTXATTR:
	case FUSE_SETXATTR:
	case FUSE_REMOVEXATTR:
		attributes(in, body);
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
		/* Nothing here takes so long. */
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
	/* Numbers 0 and 1 are none, and the root's (FUSE_ROOT_ID). */
	add_node(-1, UINT64_MAX);
	add_node(root, stat.st_ino);
	buckets[UINT64_MAX % BUCKETS] = 0;
	buckets[stat.st_ino % BUCKETS] = FUSE_ROOT_ID;
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
	/* The kernel keeps requests until they are read, so the mount can be used at once. */
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
