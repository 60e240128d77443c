// SPDX-License-Identifier: GPL-2.0-only
/*
 * A folder of the kernel's own NFS server, mounted over the loopback interface: requests agree with
 * the system calls, with and without caches, and ask the server where statx(2) would. READTREE
 * leaves the folders below to the caller, because names are validated when they are used.
 *
 * The kernel asks programs of nfs-utils who may mount what. Here the test gives these answers in
 * advance (Documentation/filesystems/nfs/rpc-cache.rst).
 */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/disks.h"
#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

#define SERVER		"/proc/fs/nfsd"
#define CACHES		"/proc/net/rpc/"
#define FOR_EVER	2147483647
/* Flags of an export, linux/nfsd/export.h: any port, async, no check of parents, a given number. */
#define EXPORT		(0x2 | 0x10 | 0x400 | 0x2000)
#define FILES		24

static char buf[65536] __attribute__((aligned(8)));

static void answer(const char *cache, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void answer(const char *cache, const char *format, ...)
{
	char path[128], text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(path, sizeof(path), CACHES "%s", cache);
	MUST(write_text(path, text) == 0);
}

/* Serves the folder as the root of NFS 4, whose number is 0. */
static void start_server(const char *path)
{
	if (mount("nfsd", SERVER, "nfsd", 0, NULL))
		test_skip("a server of NFS: %s", strerror(errno));
	answer("auth.unix.ip/channel", "nfsd 127.0.0.1 %d ringwalk\n", FOR_EVER);
	answer("nfsd.export/channel", "ringwalk %s %d %d 65534 65534 0\n", path, FOR_EVER, EXPORT);
	answer("nfsd.fh/channel", "ringwalk 1 \\x00000000 %d %s\n", FOR_EVER, path);
	MUST(write_text(SERVER "/versions", "-3 +4 +4.1 +4.2\n") == 0);
	MUST(write_text(SERVER "/portlist", "tcp 2049\n") == 0);
	MUST(write_text(SERVER "/threads", "2") == 0);
}

static void stop_server(void)
{
	static const char *const caches[] = { "nfsd.fh", "nfsd.export", "auth.unix.ip" };
	char path[64];

	MUST(write_text(SERVER "/threads", "0") == 0);
	/* They hold the folder. */
	for (size_t i = 0; i < ARRAY_SIZE(caches); i++) {
		snprintf(path, sizeof(path), "%s/flush", caches[i]);
		answer(path, "%d\n", FOR_EVER);
	}
	MUST(umount2(SERVER, 0) == 0);
}

static void fill(int fd, const char *path)
{
	char name[32];

	tree_files(fd, "file", FILES);
	MUST(mkdirat(fd, "folder", 0700) == 0 && symlinkat("file000001", fd, "link") == 0);
	for (int i = 0; i < FILES; i += 7) {
		snprintf(name, sizeof(name), "file%06u", i);
		tree_xattr(path, name, "user.number", name, strlen(name));
	}
}

/* Returns the mode of the file by READDIRPLUS with these flags of statx(2), or 0. */
static unsigned int mode_of(struct transport *transport, int fd, const char *name, uint32_t stat_flags)
{
	struct ringwalk_readdirplus plus = request_readdirplus(fd, buf, sizeof(buf));
	struct record record;
	long got;

	plus.off = 0;
	plus.fields.stat_flags = stat_flags;
	got = transport_call(transport, RINGWALK_IOC_READDIRPLUS, &plus);
	for (const char *at = buf; at < buf + got; at = record.next) {
		if (record_parse(at, buf + got - at, &plus.fields, &record))
			break;
		if (!strcmp(record.name, name) && record.stat)
			return record.stat->mode & 07777;
	}
	return 0;
}

static void check_all(struct transport *transport, int fd, const char *path, const char *what)
{
	unsigned int folders = request_check_all(transport, fd, path, what);

	CHECK(folders == 1, "%s: readtree has read %u folders, not the one alone", what, folders);
}

static void client(struct env *env, int served, const char *mounted)
{
	struct ringwalk_readahead ahead;
	struct transport transport;
	int fd;

	transport_open(&transport, env->kind, 0);
	if (mount("127.0.0.1:/", mounted, "nfs4", 0,
		  "addr=127.0.0.1,clientaddr=127.0.0.1,port=2049,proto=tcp,vers=4.2,sec=sys,soft,timeo=100,retrans=2,acregmin=600"))
		test_skip("a client of NFS: %s", strerror(errno));
	fd = open(mounted, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	MUST(fd >= 0);
	check_all(&transport, fd, mounted, "a new mount");
	disks_drop_caches(fd);
	ahead = request_readahead(fd);
	ahead.off = 0;
	CHECK(transport_call(&transport, RINGWALK_IOC_READAHEAD, &ahead) == 0 && ahead.entries >= FILES, "readahead: %u entries",
	      ahead.entries);
	check_all(&transport, fd, mounted, "after readahead");

	/* The client learns of this change only if it asks. */
	MUST(mode_of(&transport, fd, "file000002", 0) == 0644);
	MUST(fchmodat(served, "file000002", 0600, 0) == 0);
	CHECK(mode_of(&transport, fd, "file000002", AT_STATX_DONT_SYNC) == 0644, "the server was asked without need");
	CHECK(mode_of(&transport, fd, "file000002", AT_STATX_FORCE_SYNC) == 0600, "the server was not asked");
	MUST(unlinkat(served, "file000003", 0) == 0);
	MUST(mknodat(served, "new", S_IFREG | 0640, 0) == 0);
	disks_drop_caches(fd);
	check_all(&transport, fd, mounted, "after changes on the server");
	close(fd);
	MUST(tree_unmount(mounted));
	transport_close(&transport);
}

static void run(struct env *env)
{
	char path[512], mounted[512];
	int served = tree_folder(env->path, "served", path);

	close(tree_folder(env->path, "mounted", mounted));
	fill(served, path);
	start_server(path);
	client(env, served, mounted);
	stop_server();
	close(served);
}

const struct test test = {
	.name = "nfs",
	.kinds = BY_MODULE,
	.one_kind = true,
	.run = run,
};
