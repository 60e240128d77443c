/*
 * A walk with fts(3) of the C library: physical, with the metadata of every entry.
 *
 *     fts DIR
 *
 * prints the number of entries below DIR and the sum of their sizes, as `floor stat` does.
 */
#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

int main(int argc, char **argv)
{
	unsigned long long entries = 0, bytes = 0;
	FTSENT *entry;
	FTS *walk;

	if (argc != 2) {
		fprintf(stderr, "usage: fts DIR\n");
		return 2;
	}
	/* fts changes the working directory, which is faster. */
	walk = fts_open(argv + 1, FTS_PHYSICAL, NULL);
	if (!walk) {
		fprintf(stderr, "fts: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	while ((entry = fts_read(walk))) {
		switch (entry->fts_info) {
		case FTS_DP: /* a directory comes a second time, after its contents */
			break;
		case FTS_DNR:
		case FTS_ERR:
		case FTS_NS:
			fprintf(stderr, "fts: %s: %s\n", entry->fts_path, strerror(entry->fts_errno));
			return 1;
		default:
			if (entry->fts_level > FTS_ROOTLEVEL) {
				entries++;
				bytes += entry->fts_statp->st_size;
			}
		}
	}
	if (errno) {
		fprintf(stderr, "fts: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	fts_close(walk);
	printf("%llu entries, %llu bytes\n", entries, bytes);
	return 0;
}
