// SPDX-License-Identifier: GPL-2.0-only
#include "names.h"
#include "test.h"

long request_all_names(struct transport *transport, int fd, uint32_t len, struct list *list)
{
	char *buf = malloc(len);
	long got;

	MUST(buf);
	memset(list, 0, sizeof(*list));
	do {
		struct ringwalk_getdents request = request_getdents(fd, buf, len);

		got = transport_call(transport, RINGWALK_IOC_GETDENTS, &request);
		if (got > 0)
			list_append(list, buf, got);
		if (got >= 0 && request.result_flags & RINGWALK_RESULT_END)
			break;
	} while (got > 0);
	free(buf);
	return got < 0 ? got : 0;
}

void request_check_names(struct transport *transport, int fd, uint32_t len, const struct list *list,
			 size_t first, const char *what)
{
	struct list got;

	CHECK(!request_all_names(transport, fd, len, &got), "%s, by %u bytes", what, len);
	CHECK_NULL(list_differs(&got, list, first), "%s, by %u bytes", what, len);
	list_free(&got);
}
