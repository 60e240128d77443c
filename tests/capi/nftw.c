// Prints the results of nftw(3) of the C library, for a comparison with examples/nftw.c of
// ringwalk-capi.
//
//   nftw [-d] [-L] [-x] [-s NAME] [-q NAME] PATH
//
// Prints each entry like that program with -l: "FLAG SIZE LEVEL BASE PATH" and NUL. The options are
// the same.

#define _GNU_SOURCE
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *skip = "", *quit = "";

static int tell(const char *path, const struct stat *stat, int flag, struct FTW *ftw)
{
	printf("%d %lld %d %d %s%c", flag, flag == FTW_NS ? 0 : (long long)stat->st_size, ftw->level,
	       ftw->base, path, '\0');
	if (!strcmp(path + ftw->base, quit))
		return FTW_STOP;
	return strcmp(path + ftw->base, skip) ? FTW_CONTINUE : FTW_SKIP_SUBTREE;
}

int main(int argc, char **argv)
{
	int flags = FTW_PHYS | FTW_ACTIONRETVAL;

	for (; argc > 1 && argv[1][0] == '-'; argc--, argv++) {
		char option = argv[1][1];

		flags |= option == 'd' ? FTW_DEPTH : option == 'x' ? FTW_MOUNT : 0;
		flags &= option == 'L' ? ~FTW_PHYS : ~0;
		if (option == 's' || option == 'q') {
			*(option == 's' ? &skip : &quit) = argv[2];
			argc--, argv++;
		}
	}
	return nftw(argv[1], tell, 100, flags) < 0;
}
