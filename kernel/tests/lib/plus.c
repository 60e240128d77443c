// SPDX-License-Identifier: GPL-2.0-only
#include "plus.h"
#include "test.h"

void request_xattrs(struct ringwalk_fields *fields, const char *names, uint32_t names_len,
		    uint32_t value_max, uint32_t entry_max)
{
	fields->xattr_names = (uintptr_t)names;
	fields->xattr_names_len = names_len;
	fields->xattr_value_max = value_max;
	fields->xattr_entry_max = entry_max;
}

struct compare request_compare(struct transport *transport, int fd, const char *path,
			       const struct ringwalk_fields *fields, uint32_t flags)
{
	return (struct compare){
		.fd = fd,
		.path = path,
		.fields = fields,
		.flags = flags,
/* @ours */
		.no_mnt_id = !transport_is_opcode(transport->kind),
/* @end */
	};
}

const char *request_compare_rest(struct transport *transport,
				 const struct ringwalk_readdirplus *like, const char *path,
				 const struct list *list, size_t first)
{
	struct compare compare =
		request_compare(transport, like->fd, path, &like->fields, like->flags);
	struct ringwalk_readdirplus request = *like;
	size_t at = first;

	for (;;) {
		long got = transport_call(transport, RINGWALK_IOC_READDIRPLUS, &request);
		const char *different;

		if (got < 0)
			return wrong("readdirplus of %u bytes at entry %zu: %s", request.len, at,
				     strerror(-got));
		if (request.max_entries && request.entries > request.max_entries)
			return wrong("%u entries, more than %u", request.entries,
				     request.max_entries);
		if (got > (long)request.len || (!got && request.entries))
			return wrong("%ld bytes and %u entries of %u bytes", got, request.entries,
				     request.len);
		different = compare_batch(&compare, (void *)(uintptr_t)request.buf, got,
					  request.entries, list, at);
		if (different)
			return different;
		at += request.entries;
		if (!got || request.result_flags & RINGWALK_RESULT_END)
			break;
		request.off = RINGWALK_OFF_CURRENT;
	}
	if (at != list->count)
		return wrong("%zu entries, not %zu", at, list->count);
	return NULL;
}
