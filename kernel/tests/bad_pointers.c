// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tries bad values of every address in a request: none, the kernel's, unmapped, unreadable,
 * unwritable, and memory that ends early.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

#define PAGE 4096

static struct transport transport;
static struct list names;
static char buf[32768] __attribute__((aligned(8)));

/* Addresses that are never mapped: of x86-64's halves, between them, and at the ends. */
static const uint64_t nowhere[] = {
	0, 8, 4096 - 8, 0x00007ffffffff000, 0x0000800000000000, 0x4000000000000000, 0x8000000000000000, 0xdead000000000100,
	0xffff888000000000, 0xffffffff81000000, 0xffffffffff600000, (uint64_t)-4096, (uint64_t)-8,
};

/* Pages of each kind. */
static char *page_none, *page_readonly;

static void *map_page(int protection)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(page != MAP_FAILED);
	memset(page, 0, PAGE);
	MUST(mprotect(page, PAGE, protection) == 0);
	return page;
}

/* The request itself. */
static void request_address(unsigned int command, const char *name, const void *request, size_t len)
{
	char *exact = guard_alloc(len);

	for (size_t i = 0; i < ARRAY_SIZE(nowhere); i++) {
		long got = transport_call_raw(&transport, command, nowhere[i]);

		CHECK(got == -EFAULT, "%s at 0x%jx: %ld", name, (uintmax_t)nowhere[i], got);
	}
	CHECK(transport_call_raw(&transport, command, (uintptr_t)page_none) == -EFAULT, "%s that cannot be read", name);
	/*
	 * The request ends where memory ends, and succeeds: no byte after it is read. A byte
	 * further it fails.
	 */
	memcpy(exact, request, len);
	CHECK(transport_call_raw(&transport, command, (uintptr_t)exact) >= 0, "%s at the end of memory", name);
	memmove(exact + 8, request, len - 8);
	CHECK(transport_call_raw(&transport, command, (uintptr_t)exact + 8) == -EFAULT, "%s across the end of memory", name);
	guard_free(exact, len);
	/* Fields marked "out" need writable memory. */
	MUST(mprotect(page_readonly, PAGE, PROT_READ | PROT_WRITE) == 0);
	memcpy(page_readonly, request, len);
	MUST(mprotect(page_readonly, PAGE, PROT_READ) == 0);
	CHECK(transport_call_raw(&transport, command, (uintptr_t)page_readonly) == -EFAULT, "%s that cannot be written", name);
	CHECK(!memcmp(page_readonly, request, len), "%s was written to", name);
}

static void requests(int fd)
{
	struct ringwalk_info info = request_info();
	struct ringwalk_getdents getdents = request_getdents(fd, buf, sizeof(buf));
	struct ringwalk_readdirplus plus = request_readdirplus(fd, buf, sizeof(buf));
	struct ringwalk_stat_batch batch = request_stat_batch(fd, names.bytes, names.len, buf, sizeof(buf));
	struct ringwalk_readahead ahead = request_readahead(fd);
	struct ringwalk_readtree tree = request_readtree(fd, buf, sizeof(buf));

	getdents.off = plus.off = ahead.off = tree.off = 0;
	request_address(RINGWALK_IOC_INFO, "info", &info, sizeof(info));
	request_address(RINGWALK_IOC_GETDENTS, "getdents", &getdents, sizeof(getdents));
	request_address(RINGWALK_IOC_READDIRPLUS, "readdirplus", &plus, sizeof(plus));
	request_address(RINGWALK_IOC_STAT_BATCH, "stat_batch", &batch, sizeof(batch));
	request_address(RINGWALK_IOC_READTREE, "readtree", &tree, sizeof(tree));
	request_address(RINGWALK_IOC_READAHEAD, "readahead", &ahead, sizeof(ahead));
}

/*
 * A request that failed because of its output memory must not lose names. All names are in the @len
 * bytes of returned records and in those of the following requests.
 */
static void nothing_lost(int fd, const char *given, long len, const char *what)
{
	struct list list, rest;

	memset(&list, 0, sizeof(list));
	list_append(&list, given, len);
	CHECK(!request_all_names(&transport, fd, sizeof(buf), &rest), "after %s", what);
	list_append(&list, rest.bytes, rest.len);
	CHECK_NULL(list_differs(&list, &names, 0), "after %s", what);
	list_free(&rest);
	list_free(&list);
}

static void output_at(int fd, uint64_t address, const char *what)
{
	struct ringwalk_getdents getdents = request_getdents(fd, NULL, PAGE);
	struct ringwalk_readdirplus plus = request_readdirplus(fd, NULL, PAGE);
	struct ringwalk_stat_batch batch = request_stat_batch(fd, names.bytes, names.len, NULL, PAGE);
	struct ringwalk_readtree tree = request_readtree(fd, NULL, PAGE);
	long got;

	MUST(lseek(fd, 0, SEEK_SET) == 0);
	getdents.buf = plus.buf = batch.buf = tree.buf = address;
	got = transport_call(&transport, RINGWALK_IOC_GETDENTS, &getdents);
	CHECK(got == -EFAULT, "getdents to %s 0x%jx: %ld", what, (uintmax_t)address, got);
	nothing_lost(fd, "", 0, "getdents");
	if (!transport_has(transport.kind, OPCODE_READDIRPLUS))
		return;
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	got = transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &plus);
	CHECK(got == -EFAULT, "readdirplus to %s 0x%jx: %ld", what, (uintmax_t)address, got);
	nothing_lost(fd, "", 0, "readdirplus");
	if (transport_is_opcode(transport.kind))
		return;
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	got = transport_call(&transport, RINGWALK_IOC_READTREE, &tree);
	CHECK(got == -EFAULT, "readtree to %s 0x%jx: %ld", what, (uintmax_t)address, got);
	nothing_lost(fd, "", 0, "readtree");
	if (transport.device < 0)
		return;
	got = transport_call(&transport, RINGWALK_IOC_STAT_BATCH, &batch);
	CHECK(got == -EFAULT, "stat_batch to %s 0x%jx: %ld", what, (uintmax_t)address, got);
}

/*
 * A buffer may be longer than its memory if the written records fit, as with getdents64.
 */
static void short_memory(int fd)
{
	char *page = guard_alloc(PAGE);
	struct ringwalk_readdirplus plus = request_readdirplus(fd, page, 65536);
	struct ringwalk_getdents getdents = request_getdents(fd, page, 65536);
	struct ringwalk_readtree tree = request_readtree(fd, page, 65536);
	long got;

	plus.off = getdents.off = tree.off = 0;
	CHECK(transport_call(&transport, RINGWALK_IOC_GETDENTS, &getdents) == (long)names.len, "getdents to short memory");
	if (transport_has(transport.kind, OPCODE_READDIRPLUS))
		CHECK(transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &plus) > 0, "readdirplus to short memory");
	if (!transport_is_opcode(transport.kind))
		CHECK(transport_call(&transport, RINGWALK_IOC_READTREE, &tree) > 0, "readtree to short memory");
	guard_free(page, PAGE);
	page = guard_alloc(names.len);
	getdents.buf = (uintptr_t)page;
	getdents.len = names.len;
	CHECK(transport_call(&transport, RINGWALK_IOC_GETDENTS, &getdents) == (long)names.len, "getdents to exact memory");
	getdents.buf = (uintptr_t)page + 8;
	getdents.off = 0;
	/*
	 * If memory ends within the records, the records before are returned, as by getdents64.
	 * None is lost.
	 */
	got = transport_call(&transport, RINGWALK_IOC_GETDENTS, &getdents);
	CHECK(got == -EFAULT || got > 0, "getdents across the end of memory: %ld", got);
	nothing_lost(fd, page + 8, got > 0 ? got : 0, "getdents across the end of memory");
	guard_free(page, names.len);
}

static void outputs(int fd)
{
	for (size_t i = 0; i < ARRAY_SIZE(nowhere); i++)
		output_at(fd, nowhere[i], "nowhere");
	output_at(fd, (uintptr_t)page_none, "a page not to be touched");
	output_at(fd, (uintptr_t)page_readonly, "a page not to be written");
	short_memory(fd);
}

static void attribute_names_at(int fd, uint64_t address, uint32_t len)
{
	struct ringwalk_readdirplus plus = request_readdirplus(fd, buf, sizeof(buf));
	struct ringwalk_stat_batch batch = request_stat_batch(fd, names.bytes, names.len, buf, sizeof(buf));
	struct ringwalk_readtree tree = request_readtree(fd, buf, sizeof(buf));
	long got;

	MUST(lseek(fd, 0, SEEK_SET) == 0);
	request_xattrs(&plus.fields, (const char *)(uintptr_t)address, len, 100, 1000);
	batch.fields = tree.fields = plus.fields;
	got = transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &plus);
	/* A null address with a length is invalid. */
	CHECK(got == -EFAULT || (!address && got == -EINVAL), "readdirplus with attribute names at 0x%jx: %ld",
	      (uintmax_t)address, got);
	nothing_lost(fd, "", 0, "readdirplus with bad attribute names");
	if (transport_is_opcode(transport.kind))
		return;
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	got = transport_call(&transport, RINGWALK_IOC_READTREE, &tree);
	CHECK(got == -EFAULT || (!address && got == -EINVAL), "readtree with attribute names at 0x%jx: %ld", (uintmax_t)address,
	      got);
	nothing_lost(fd, "", 0, "readtree with bad attribute names");
	if (transport.device < 0)
		return;
	got = transport_call(&transport, RINGWALK_IOC_STAT_BATCH, &batch);
	CHECK(got == -EFAULT || (!address && got == -EINVAL), "stat_batch with attribute names at 0x%jx: %ld",
	      (uintmax_t)address, got);
}

static void inputs(int fd)
{
	static const char attribute[] = "user.one";
	struct ringwalk_stat_batch batch = request_stat_batch(fd, NULL, names.len, buf, sizeof(buf));
	struct ringwalk_readdirplus plus = request_readdirplus(fd, buf, sizeof(buf));
	char *exact = guard_alloc(sizeof(attribute));

	for (size_t i = 0; i < ARRAY_SIZE(nowhere); i++) {
		attribute_names_at(fd, nowhere[i], 9);
		attribute_names_at(fd, nowhere[i], 65536);
		if (transport.device < 0)
			continue;
		batch.names = nowhere[i];
		CHECK(transport_call(&transport, RINGWALK_IOC_STAT_BATCH, &batch) == -EFAULT, "names at 0x%jx",
		      (uintmax_t)nowhere[i]);
	}
	attribute_names_at(fd, (uintptr_t)page_none, 9);
	memcpy(exact, attribute, sizeof(attribute));
	request_xattrs(&plus.fields, exact, sizeof(attribute), 100, 1000);
	plus.off = 0;
	CHECK(transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &plus) > 0, "attribute names at the end of memory");
	attribute_names_at(fd, (uintptr_t)exact, sizeof(attribute) + 1);
	guard_free(exact, sizeof(attribute));
	if (transport.device < 0)
		return;
	exact = guard_alloc(names.len);
	memcpy(exact, names.bytes, names.len);
	batch.names = (uintptr_t)exact;
	CHECK(transport_call(&transport, RINGWALK_IOC_STAT_BATCH, &batch) > 0, "names at the end of memory");
	batch.names_len += 8;
	CHECK(transport_call(&transport, RINGWALK_IOC_STAT_BATCH, &batch) < 0, "names across the end of memory");
	guard_free(exact, names.len);
}

static void run(struct env *env)
{
	char path[512];
	int fd = tree_folder(env->path, "folder", path);

	page_none = map_page(PROT_NONE);
	page_readonly = map_page(PROT_READ);
	transport_open(&transport, env->kind, 0);
	tree_files(fd, "name", 12);
	list_read(&names, fd);
	if (transport.device >= 0)
		requests(fd);
	outputs(fd);
	if (transport_has(transport.kind, OPCODE_READDIRPLUS))
		inputs(fd);
	transport_close(&transport);
	close(fd);
}

const struct test test = {
	.name = "bad_pointers",
	.kinds = BY_ALL,
	.run = run,
};
