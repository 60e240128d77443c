//! Combinations of mke2fs features.

/// A combination: the arguments of mke2fs, and the size of the image.
pub(crate) type Format = (&'static str, &'static str);

/// The formats to test. Some have small groups, so that a small image has many of them.
pub(crate) const FORMATS: &[Format] = &[
    // ext2 and ext3: indirect block maps.
    ("-t ext2 -b 1024", "8m"),
    ("-t ext2 -b 4096 -I 128", "8m"),
    ("-t ext2 -b 1024 -r 0", "8m"),
    ("-t ext2 -b 1024 -O none -I 128", "8m"),
    (
        "-t ext2 -b 1024 -O ^filetype,^sparse_super,^resize_inode,dir_index",
        "16m",
    ),
    ("-t ext2 -b 65536", "64m"),
    ("-t ext3 -b 1024 -I 128", "16m"),
    ("-t ext3 -b 2048 -g 2048", "16m"),
    // ext4: block sizes and inode sizes.
    ("-t ext4 -b 1024", "16m"),
    ("-t ext4 -b 2048 -I 512", "16m"),
    ("-t ext4 -b 4096", "16m"),
    ("-t ext4 -b 4096 -I 128", "16m"),
    ("-t ext4 -b 4096 -I 4096 -N 1600", "32m"),
    ("-t ext4 -b 8192", "32m"),
    ("-t ext4 -b 16384 -I 1024", "32m"),
    ("-t ext4 -b 32768", "64m"),
    ("-t ext4 -b 65536", "64m"),
    ("-t ext4 -b 65536 -O inline_data,^metadata_csum", "64m"),
    // Groups and their descriptors.
    ("-t ext4 -b 1024 -g 256 -O meta_bg,^resize_inode", "16m"),
    (
        "-t ext4 -b 1024 -g 256 -O meta_bg,^resize_inode,^64bit,uninit_bg,^metadata_csum",
        "24m",
    ),
    (
        "-t ext4 -b 1024 -g 256 -O meta_bg,^resize_inode,^sparse_super,^flex_bg",
        "16m",
    ),
    (
        "-t ext4 -b 4096 -g 256 -O meta_bg,^resize_inode,sparse_super2",
        "192m",
    ),
    (
        "-t ext4 -b 1024 -g 512 -O sparse_super2,^resize_inode",
        "16m",
    ),
    ("-t ext4 -b 1024 -g 256 -O ^flex_bg,^64bit", "16m"),
    ("-t ext4 -b 1024 -O bigalloc -C 4096", "32m"),
    (
        "-t ext4 -b 1024 -O bigalloc,meta_bg,^resize_inode -C 2048 -g 1024",
        "32m",
    ),
    ("-t ext4 -b 4096 -O bigalloc -C 65536", "64m"),
    ("-t ext4 -b 1024 -O uninit_bg,^metadata_csum", "16m"),
    (
        "-t ext4 -b 1024 -O uninit_bg,^metadata_csum,^64bit -g 1024",
        "16m",
    ),
    ("-t ext4 -b 1024 -O ^metadata_csum,^uninit_bg", "16m"),
    (
        "-t ext4 -b 4096 -O ^64bit,^huge_file,^extent,^flex_bg",
        "16m",
    ),
    ("-t ext4 -b 1024 -O mmp -E mmp_update_interval=1", "16m"),
    // Contents of inodes and directories.
    ("-t ext4 -b 1024 -O inline_data", "16m"),
    ("-t ext4 -b 4096 -O inline_data -I 1024", "16m"),
    ("-t ext4 -b 4096 -O inline_data,^filetype", "16m"),
    ("-t ext4 -b 1024 -O inline_data,^metadata_csum", "16m"),
    ("-t ext4 -b 1024 -O ^filetype,large_dir,ea_inode", "16m"),
    (
        "-t ext4 -b 1024 -O metadata_csum_seed -E orphan_file_size=65536",
        "16m",
    ),
    ("-t ext4 -b 1024 -O ^dir_index", "16m"),
    (
        "-t ext4 -b 1024 -O quota,project -E quotatype=usrquota:grpquota:prjquota",
        "16m",
    ),
    (
        "-t ext4 -b 4096 -I 512 -O project,quota,casefold,encrypt,verity,ea_inode,inline_data,large_dir,\
         metadata_csum_seed,orphan_file,stable_inodes,sparse_super2,^resize_inode",
        "32m",
    ),
    (
        "-t ext4 -b 1024 -O casefold -E encoding_flags=strict",
        "16m",
    ),
];
