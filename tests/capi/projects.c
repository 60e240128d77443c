// Prints the project id of each entry of a walk, or that it is not known.
//
//   PROGRAM SOURCE CALL DIR
//
// CALL is the kernel's answer to file_getattr(2): "real", "none" (ENOSYS, as before Linux 6.17),
// "filtered" (EPERM, like filters of system calls), "denied" (EACCES). A record is the path, NUL,
// the id in decimal or "-", NUL.

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <ringwalk.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#define FILE_GETATTR 468

static int answer(unsigned short error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FILE_GETATTR, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof filter / sizeof *filter, filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int print(const struct ringwalk_batch *batch)
{
	char path[4096];

	if (batch->kind == RINGWALK_ERROR) {
		fprintf(stderr, "%s\n", batch->error->message);
		return 1;
	}
	for (size_t i = 0; i < batch->entry_count; i++) {
		const struct ringwalk_metadata *found = batch->entries[i].metadata;

		if (ringwalk_path(batch, i, path, sizeof path) < 0 || !found)
			return 1;
		for (size_t word = 0; word < sizeof found->reserved / sizeof *found->reserved; word++)
			if (found->reserved[word])
				return 1;
		fwrite(path, 1, strlen(path) + 1, stdout);
		if (found->mask & RINGWALK_FIELD_PROJECT_ID)
			printf("%lu", (unsigned long)found->project_id);
		else
			printf("-");
		putchar('\0');
	}
	return 0;
}

int main(int argc, char **argv)
{
	char message[200] = "";
	struct ringwalk_options options = {
		.size = sizeof options,
		.roots = argv + 3,
		.source = argc > 1 ? argv[1] : NULL,
		.fields = RINGWALK_FIELD_PROJECT_ID,
		.message = message,
		.message_size = sizeof message,
	};
	struct ringwalk_walk *walk;
	struct ringwalk_batch batch;
	int wrong = 0;

	if (argc < 4)
		return 2;
	if (!strcmp(argv[2], "none"))
		wrong = answer(ENOSYS);
	else if (!strcmp(argv[2], "filtered"))
		wrong = answer(EPERM);
	else if (!strcmp(argv[2], "denied"))
		wrong = answer(EACCES);
	if (wrong)
		return 77;
	if (ringwalk_open(&options, &walk)) {
		fprintf(stderr, "%s\n", message);
		return 2;
	}
	for (; ringwalk_next_batch(walk, &batch, sizeof batch) > 0; ringwalk_release(&batch))
		wrong |= print(&batch);
	return ringwalk_close(walk) || wrong;
}
