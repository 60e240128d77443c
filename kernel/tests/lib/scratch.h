/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small ext4 file system of a test's own, whose device can be made slow or fail:
 *
 *   an image beside the program -> memory file -> loop device -> device mapper -> mount
 *
 * The images are made with the programs (Makefile): no guest has mke2fs. They have no journal,
 * so each block is written to its own place at once.
 */
#ifndef RINGWALK_SCRATCH_H
#define RINGWALK_SCRATCH_H

#include <stdint.h>

#include "test.h"

/*
 * The images: an ordinary file system, one with casefold and encrypt, and one whose directories use
 * the legacy hash, of 8 MiB and with blocks of 1 KiB.
 */
#define SCRATCH_PLAIN		"plain.image"
#define SCRATCH_FEATURES	"features.image"
#define SCRATCH_LEGACY		"legacy.image"
/* Unit of ranges, whatever the size of the blocks. */
#define SCRATCH_BLOCK		1024

/**
 * struct scratch - the file system and what it lies on.
 * @path: where it is mounted
 * @device: the mapped device, mounted there
 * @lower: the loop device, with the same content
 * @name: of the mapped device
 * @loop: the loop device, open
 * @control: /dev/mapper/control
 * @sectors: of the device, 512 bytes each
 */
struct scratch {
	char path[512];
	char device[32];
	char lower[32];
	char name[32];
	int loop;
	int control;
	uint64_t sectors;
};

/* Bytes of the device, in units of SCRATCH_BLOCK. */
struct scratch_range {
	uint64_t first;
	uint64_t count;
};

/* Mounts @image in @env's folder. Skips the test if the kernel has no device mapper. */
void scratch_open(struct scratch *scratch, const struct env *env, const char *image,
		  const char *options);
/* Unmounts it and removes its devices. No file on it may be open. */
void scratch_close(struct scratch *scratch);
void scratch_mount(struct scratch *scratch, const char *options);
void scratch_unmount(struct scratch *scratch);

/* From now on the device works. */
void scratch_works(struct scratch *scratch);
/* From now on reads and writes of these blocks fail. The ranges are in order. */
void scratch_fails(struct scratch *scratch, const struct scratch_range *ranges, unsigned int count);
/* From now on no block can be read or written. */
void scratch_fails_all(struct scratch *scratch);
/* From now on each read takes this long. Skips the test if the kernel cannot do that. */
void scratch_slow(struct scratch *scratch, unsigned int milliseconds);

/* Returns how many reads the device has completed since it was made. */
unsigned long scratch_reads(const struct scratch *scratch);
/* Waits until no read was completed for so long. */
void scratch_wait(const struct scratch *scratch, unsigned int milliseconds);

/* Returns the number of ranges in which the file or folder lies, at most @most, in order. */
unsigned int scratch_ranges(int fd, struct scratch_range *ranges, unsigned int most);

#endif
