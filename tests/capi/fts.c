// Prints the results of fts(3) of the C library, for a comparison with examples/fts.c of
// ringwalk-capi.
//
//   fts [-L] PATH...
//
// Prints each entry like that program with -l: "INFO SIZE LEVEL PATH" and NUL. A directory comes
// once, before its entries.

#define _GNU_SOURCE
#include <errno.h>
#include <fts.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static char letter(int info)
{
	switch (info) {
	case FTS_D:
		return 'D';
	case FTS_F:
		return 'F';
	case FTS_SL:
	case FTS_SLNONE:
		return 'L';
	case FTS_DC:
		return 'C';
	case FTS_DNR:
		return 'R';
	case FTS_NS:
		return 'N';
	default:
		return 'O';
	}
}

int main(int argc, char **argv)
{
	bool follow = false;
	int status = 0;
	FTSENT *entry;
	FTS *tree;

	for (; argc > 1 && argv[1][0] == '-'; argc--, argv++) {
		follow |= !strcmp(argv[1], "-L");
	}
	tree = fts_open(argv + 1, follow ? FTS_LOGICAL : FTS_PHYSICAL, NULL);
	if (!tree) {
		perror("fts");
		return 2;
	}
	while ((entry = fts_read(tree))) {
		uint64_t size = entry->fts_info == FTS_NS ? 0 : entry->fts_statp->st_size;

		if (entry->fts_info == FTS_DP)
			continue;
		if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_NS || entry->fts_info == FTS_DC) {
			fprintf(stderr, "fts: %s: %s\n", entry->fts_path, strerror(entry->fts_errno));
			status = 1;
		}
		printf("%c %" PRIu64 " %d %s%c", letter(entry->fts_info), size, entry->fts_level,
		       entry->fts_path, '\0');
	}
	if (errno) {
		perror("fts");
		status = 1;
	}
	fts_close(tree);
	return status;
}
