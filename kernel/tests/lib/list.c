// SPDX-License-Identifier: GPL-2.0-only
#include <unistd.h>

#include "list.h"
#include "test.h"

static void index_records(struct list *list)
{
	size_t at = 0, count = 0;

	free(list->by_name);
	list->by_name = NULL;
	for (; at < list->len; count++) {
		struct dirent_record *record = (struct dirent_record *)(list->bytes + at);

		MUST(list->len - at >= sizeof(*record));
		MUST(record->d_reclen >= sizeof(*record) && record->d_reclen <= list->len - at);
		at += record->d_reclen;
	}
	list->at = realloc(list->at, (count + 1) * sizeof(*list->at));
	MUST(list->at);
	list->count = count;
	at = 0;
	for (size_t i = 0; i < count; i++) {
		list->at[i] = (struct dirent_record *)(list->bytes + at);
		at += list->at[i]->d_reclen;
	}
}

void list_append(struct list *list, const void *records, size_t len)
{
	list->bytes = realloc(list->bytes, list->len + len + 1);
	MUST(list->bytes);
	memcpy(list->bytes + list->len, records, len);
	list->len += len;
	index_records(list);
}

long list_read_on(struct list *list, int fd)
{
	static __thread char buf[65536] __attribute__((aligned(8)));
	size_t room = 0;
	long got;

	memset(list, 0, sizeof(*list));
	while ((got = sys_getdents64(fd, buf, sizeof(buf))) > 0) {
		/* Appending and indexing each piece separately would be quadratic. */
		if (list->len + got > room) {
			room = 2 * (list->len + got);
			list->bytes = realloc(list->bytes, room);
			MUST(list->bytes);
		}
		memcpy(list->bytes + list->len, buf, got);
		list->len += got;
	}
	index_records(list);
	return got;
}

void list_read(struct list *list, int fd)
{
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	MUST(list_read_on(list, fd) == 0);
}

void list_read_apart(struct list *list, int fd)
{
	int apart = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	MUST(apart >= 0);
	list_read(list, apart);
	close(apart);
}

void list_add(struct list *list, const char *name, uint64_t ino, uint64_t off, uint8_t type)
{
	size_t len = dirent_record_len(strlen(name));
	struct dirent_record *record = calloc(1, len);

	MUST(record);
	*record = (struct dirent_record){
		.d_ino = ino, .d_off = off, .d_reclen = len, .d_type = type
	};
	strcpy(record->d_name, name);
	list_append(list, record, len);
	free(record);
}

void list_free(struct list *list)
{
	free(list->at);
	free(list->bytes);
	free(list->by_name);
	memset(list, 0, sizeof(*list));
}

static int compare_names(const void *a, const void *b, void *list)
{
	struct dirent_record **at = ((struct list *)list)->at;

	return strcmp(at[*(const unsigned int *)a]->d_name, at[*(const unsigned int *)b]->d_name);
}

static void index_names(struct list *list)
{
	list->by_name = malloc((list->count + 1) * sizeof(*list->by_name));
	MUST(list->by_name);
	for (size_t i = 0; i < list->count; i++)
		list->by_name[i] = i;
	qsort_r(list->by_name, list->count, sizeof(*list->by_name), compare_names, list);
}

long list_find(struct list *list, const char *name)
{
	size_t low = 0, high = list->count;

	if (!list->by_name)
		index_names(list);
	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strcmp(list->at[list->by_name[middle]]->d_name, name);

		if (!order)
			return list->by_name[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return -1;
}

bool list_same_cookie(uint64_t a, uint64_t b)
{
	return a == b || ((a == INT32_MAX || a == INT64_MAX) && (b == INT32_MAX || b == INT64_MAX));
}

static bool same_record(const struct dirent_record *a, const struct dirent_record *b)
{
	return a->d_ino == b->d_ino && list_same_cookie(a->d_off, b->d_off) &&
	       a->d_reclen == b->d_reclen && a->d_type == b->d_type &&
	       !strcmp(a->d_name, b->d_name);
}

/* Writes a record for a message. Returns @text. */
static const char *describe(const struct dirent_record *record, char *text, size_t len)
{
	snprintf(text, len, "%.200s (inode %ju, off %jd, type %d, %d bytes)", record->d_name,
		 (uintmax_t)record->d_ino, (intmax_t)record->d_off, record->d_type,
		 record->d_reclen);
	return text;
}

const char *list_differs(const struct list *got, const struct list *expected, size_t first)
{
	static __thread char message[700];
	char texts[2][330];

	for (size_t i = 0; i < got->count && first + i < expected->count; i++) {
		const struct dirent_record *a = got->at[i], *b = expected->at[first + i];

		if (same_record(a, b))
			continue;
		snprintf(message, sizeof(message), "record %zu is %s, not %s", i,
			 describe(a, texts[0], sizeof(texts[0])),
			 describe(b, texts[1], sizeof(texts[1])));
		return message;
	}
	if (got->count + first == expected->count)
		return NULL;
	snprintf(message, sizeof(message), "%zu records from %zu on, not %zu", got->count, first,
		 expected->count - first);
	return message;
}
