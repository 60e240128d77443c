// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cold.h"
#include "disks.h"
#include "request.h"
#include "sys.h"
#include "tree.h"

void cold_open(struct cold *cold, const struct env *env)
{
	/* Too long for the inode, so that it has a block. */
	char value[700], name[32];

	scratch_open(&cold->scratch, env, SCRATCH_PLAIN, NULL);
	cold->fd = tree_folder(cold->scratch.path, "cold", cold->path);
	tree_files(cold->fd, "file", COLD_FILES);
	for (unsigned int i = 0; i < COLD_FILES; i++) {
		/* Files with the same attributes would share the block. */
		memset(value, 'x', sizeof(value));
		snprintf(name, sizeof(name), "file%06u", i);
		memcpy(value, name, strlen(name));
		MUST(tree_xattr(cold->path, name, "user.cold", value, sizeof(value)));
	}
	list_read(&cold->list, cold->fd);
	MUST(cold->list.count == COLD_FILES + 2);
}

void cold_close(struct cold *cold)
{
	list_free(&cold->list);
	close(cold->fd);
	scratch_close(&cold->scratch);
}

void cold_begin(struct cold *cold, bool known)
{
	disks_drop_caches(cold->fd);
	for (size_t i = 0; known && i < cold->list.count; i++) {
		struct statx_record stat;

		MUST(sys_statx(cold->fd, cold->list.at[i]->d_name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &stat) == 0);
	}
	/* Blocks alone: a security module may have read attributes with the inodes. */
	if (known)
		MUST(write_text("/proc/sys/vm/drop_caches", "1") == 0);
	MUST(lseek(cold->fd, 0, SEEK_SET) == 0);
	scratch_slow(&cold->scratch, COLD_MS);
}

pid_t cold_end_after(struct cold *cold, double seconds)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	MUST(child >= 0);
	if (child)
		return child;
	usleep(seconds * 1000000);
	scratch_works(&cold->scratch);
	test_child_exit();
}

void cold_end(struct cold *cold, pid_t helper)
{
	if (helper) {
		kill(helper, SIGKILL);
		waitpid(helper, NULL, 0);
	}
	scratch_works(&cold->scratch);
}

struct ringwalk_readdirplus cold_request(const struct cold *cold, void *buf, uint32_t len)
{
	struct ringwalk_readdirplus request = request_readdirplus(cold->fd, buf, len);

	request.flags = RINGWALK_F_XATTR_ALL;
	request_xattrs(&request.fields, NULL, 0, 1000, 1024);
	return request;
}

/* Compares the entries that came; returns their number. */
static size_t check_first(struct cold *cold, struct transport *transport, const struct ringwalk_readdirplus *request, long len,
			  const char *what)
{
	struct compare compare = request_compare(transport, cold->fd, cold->path, &request->fields, request->flags, true);

	if (len < 0)
		return 0;
	CHECK_NULL(compare_batch(&compare, (void *)(uintptr_t)request->buf, len, request->entries, &cold->list, 0), "%s: first entries",
		   what);
	return request->entries;
}

void cold_check_rest(struct cold *cold, struct transport *transport, const struct ringwalk_readdirplus *request, long len,
		     const char *what)
{
	struct ringwalk_readdirplus rest = *request;
	size_t first = check_first(cold, transport, request, len, what);

	rest.off = RINGWALK_OFF_CURRENT;
	CHECK_NULL(request_compare_rest(transport, &rest, cold->path, &cold->list, first), "%s: entries after the first %zu", what,
		   first);
}
