// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs writers and readers for the given time. Processes change a tree in every way, threads read
 * it by every command and transport, and the caches are dropped now and then. Unchanged entries
 * must be seen in each pass, and all records must be well formed.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

#define WRITERS 2
#define READERS 3
#define FOLDERS 4
#define STAYING 60
#define CHANGING 300

struct reader {
	struct env *env;
	pthread_t thread;
	uint64_t seed;
	unsigned long passes, records, gone;
};

static char paths[FOLDERS][512];
static volatile bool stop;
static enum transport_kind kinds[TRANSPORTS];
static unsigned int kind_count;

/* Makes one change of one name in one of the folders. Failures are expected. */
static void change(uint64_t *seed, const int *folders)
{
	int folder = folders[random_below(seed, FOLDERS)], other = folders[random_below(seed, FOLDERS)], fd;
	char name[64], other_name[64], path[700], value[2000];

	snprintf(name, sizeof(name), "c%u", (unsigned int)random_below(seed, CHANGING));
	snprintf(other_name, sizeof(other_name), "c%u", (unsigned int)random_below(seed, CHANGING));
	snprintf(path, sizeof(path), "%s/%s", paths[random_below(seed, FOLDERS)], name);
	switch (random_below(seed, 12)) {
	case 0:
	case 1:
		fd = openat(folder, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
		if (fd >= 0 && write(fd, name, random_below(seed, 10)) < 0)
			ftruncate(fd, 0);
		if (fd >= 0)
			close(fd);
		return;
	case 2:
		unlinkat(folder, name, 0);
		return;
	case 3:
		mkdirat(folder, name, 0755);
		return;
	case 4:
		unlinkat(folder, name, AT_REMOVEDIR);
		return;
	case 5:
		renameat(folder, name, other, other_name);
		return;
	case 6:
		linkat(folder, name, other, other_name, 0);
		return;
	case 7:
		symlinkat(other_name, folder, name);
		return;
	case 8:
		mknodat(folder, name, S_IFIFO | 0600, 0);
		return;
	case 9:
		memset(value, 'v', sizeof(value));
		lsetxattr(path, random_below(seed, 2) ? "user.one" : "trusted.two", value, random_below(seed, sizeof(value)), 0);
		return;
	case 10:
		lremovexattr(path, random_below(seed, 2) ? "user.one" : "trusted.two");
		return;
	case 11:
		fchmodat(folder, name, random_below(seed, 01000), 0);
		fchownat(folder, name, random_below(seed, 3000), random_below(seed, 3000), AT_SYMLINK_NOFOLLOW);
		return;
	}
}

static void write_until_killed(uint64_t seed)
{
	int folders[FOLDERS];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < FOLDERS; i++)
		folders[i] = open(paths[i], O_RDONLY | O_DIRECTORY);
	for (;;)
		change(&seed, folders);
}

/* Counts the entries that stay. Returns false if a record is malformed. */
static bool count_records(struct reader *reader, const struct ringwalk_fields *fields, const char *buf, long len,
			  unsigned int *staying)
{
	struct record record;

	for (const char *at = buf; at < buf + len; at = record.next) {
		const char *malformed = record_parse(at, buf + len - at, fields, &record);
		int error;

		CHECK_NULL(malformed, "a record");
		if (malformed)
			return false;
		error = record.entry->error;
		/* STAT_BATCH, whose records have no names, refuses "..". */
		CHECK(!error || error == -ENOENT || (error == -EXDEV && !record.name), "%s: error %d",
		      record.name ? record.name : "?", error);
		reader->records++;
		reader->gone += error == -ENOENT;
		*staying += record.name && !strncmp(record.name, "stays", 5);
	}
	return true;
}

static void read_plus(struct reader *reader, struct transport *transport, int fd, char *buf, uint32_t len)
{
	struct ringwalk_readdirplus request = request_readdirplus(fd, buf, len);
	unsigned int staying = 0;
	long got;

	request.off = 0;
	if (random_below(&reader->seed, 2)) {
		request.flags = RINGWALK_F_XATTR_ALL;
		request_xattrs(&request.fields, NULL, 0, random_below(&reader->seed, 2500), random_below(&reader->seed, 3000));
	}
	do {
		got = transport_call(transport, RINGWALK_IOC_READDIRPLUS, &request);
		CHECK(got >= 0, "readdirplus: %ld", got);
		if (got < 0 || !count_records(reader, &request.fields, buf, got, &staying))
			return;
		request.off = RINGWALK_OFF_CURRENT;
	} while (got && !(request.result_flags & RINGWALK_RESULT_END));
	CHECK(staying == STAYING, "readdirplus: %u of %u that stay", staying, STAYING);
}

/* The directories below the folder change, and so may have any error. */
static void read_tree(struct reader *reader, struct transport *transport, int fd, char *buf, uint32_t len)
{
	struct ringwalk_readtree request = request_readtree(fd, buf, len);
	unsigned int staying = 0;
	long got;

	request.off = 0;
	do {
		got = transport_call(transport, RINGWALK_IOC_READTREE, &request);
		CHECK(got > 0, "readtree: %ld", got);
		for (long at = 0; at < got;) {
			const struct ringwalk_group *group = (const void *)(buf + at);

			MUST(group->reclen >= sizeof(*group) && group->reclen <= got - at);
			if (!count_records(reader, &request.fields, (const char *)(group + 1), group->reclen - sizeof(*group), &staying))
				return;
			at += group->reclen;
		}
		request.off = RINGWALK_OFF_CURRENT;
	} while (got > 0 && !(request.result_flags & RINGWALK_RESULT_END));
	CHECK(got < 0 || staying == STAYING, "readtree: %u of %u that stay", staying, STAYING);
}

static void read_names(struct reader *reader, struct transport *transport, int fd, char *buf, uint32_t len)
{
	static __thread char out[65536] __attribute__((aligned(8)));
	struct ringwalk_getdents request = request_getdents(fd, buf, len);
	unsigned int staying = 0, unnamed = 0;
	long got;

	request.off = 0;
	do {
		got = transport_call(transport, RINGWALK_IOC_GETDENTS, &request);
		CHECK(got >= 0, "getdents: %ld", got);
		for (long at = 0; at < got; at += ((struct dirent_record *)(buf + at))->d_reclen)
			staying += !strncmp(((struct dirent_record *)(buf + at))->d_name, "stays", 5);
		if (got > 0 && transport->device >= 0) {
			struct ringwalk_stat_batch batch = request_stat_batch(fd, buf, got, out, sizeof(out));
			long answered = transport_call(transport, RINGWALK_IOC_STAT_BATCH, &batch);

			CHECK(answered > 0, "stat_batch: %ld", answered);
			if (answered > 0)
				count_records(reader, &batch.fields, out, answered, &unnamed);
		}
		request.off = RINGWALK_OFF_CURRENT;
	} while (got > 0 && !(request.result_flags & RINGWALK_RESULT_END));
	CHECK(got < 0 || staying == STAYING, "getdents: %u of %u that stay", staying, STAYING);
}

static void *read_all(void *arg)
{
	struct reader *reader = arg;
	char *buf = aligned_alloc(4096, 65536);

	while (!stop) {
		enum transport_kind kind = kinds[random_below(&reader->seed, kind_count)];
		uint32_t len = 8192 + random_below(&reader->seed, 65536 - 8192) / 8 * 8;
		struct transport transport;
		struct ringwalk_readahead ahead;
		int fd = open(paths[random_below(&reader->seed, FOLDERS)], O_RDONLY | O_DIRECTORY);

		MUST(fd >= 0);
		transport_open(&transport, kind, 0);
		/* The operations have only the first two. */
		switch (random_below(&reader->seed, transport_is_opcode(kind) ? 2 : 4)) {
		case 0:
			read_plus(reader, &transport, fd, buf, len);
			break;
		case 1:
			read_names(reader, &transport, fd, buf, len);
			break;
		case 2:
			ahead = request_readahead(fd);
			ahead.flags = RINGWALK_F_XATTR_BLOCKS;
			CHECK(transport_call(&transport, RINGWALK_IOC_READAHEAD, &ahead) == 0, "readahead");
			read_plus(reader, &transport, fd, buf, len);
			break;
		default:
			read_tree(reader, &transport, fd, buf, len);
			break;
		}
		reader->passes++;
		transport_close(&transport);
		close(fd);
	}
	free(buf);
	return NULL;
}

static void prepare(struct env *env)
{
	for (enum transport_kind kind = 0; kind < TRANSPORTS; kind++)
		if (transport_available(kind))
			kinds[kind_count++] = kind;
	if (!kind_count)
		test_skip("no transport");
	for (int i = 0; i < FOLDERS; i++) {
		char name[16];
		int fd;

		snprintf(name, sizeof(name), "folder%d", i);
		fd = tree_folder(env->path, name, paths[i]);
		tree_files(fd, "stays", STAYING);
		close(fd);
	}
}

static void run(struct env *env)
{
	static struct reader readers[READERS];
	pid_t writers[WRITERS];
	double until;

	printf("seed %ju\n", (uintmax_t)env->seed);
	prepare(env);
	fflush(stdout);
	for (int i = 0; i < WRITERS; i++) {
		writers[i] = fork();
		MUST(writers[i] >= 0);
		if (!writers[i])
			write_until_killed(env->seed * 31 + i + 1);
	}
	for (unsigned int i = 0; i < READERS; i++) {
		readers[i] = (struct reader){ .env = env, .seed = env->seed * 17 + i + 1 };
		MUST(pthread_create(&readers[i].thread, NULL, read_all, &readers[i]) == 0);
	}
	for (until = now() + env->seconds; now() < until; sleep(1))
		/* Dentries and inodes go away under the readers. */
		write_text("/proc/sys/vm/drop_caches", random_below(&env->seed, 3) ? "2" : "3");
	stop = true;
	for (int i = 0; i < READERS; i++) {
		pthread_join(readers[i].thread, NULL);
		printf("reader %d: %lu passes, %lu records, %lu of them gone\n", i, readers[i].passes, readers[i].records,
		       readers[i].gone);
		CHECK(readers[i].passes > 0, "reader %d made no pass", i);
	}
	for (int i = 0; i < WRITERS; i++) {
		kill(writers[i], SIGKILL);
		waitpid(writers[i], NULL, 0);
	}
}

const struct test test = {
	.name = "stress",
	.each_fs = true,
	.kinds = BY_ALL,
	.needs = OPCODE_READDIRPLUS,
	.one_kind = true,
	.soak = true,
	.run = run,
};
