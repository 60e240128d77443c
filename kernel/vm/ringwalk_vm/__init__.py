# SPDX-License-Identifier: GPL-2.0-only
"""The virtual machine in which the kernel side is tested and measured.

- cli.py: the command line, and the order of the steps
- cache.py: what is kept between runs, outside the checkout
- archive.py: packages that the lists of this machine do not name
- stock.py: Debian's kernels, from their packages
- source.py: the trees of the kernels that are built here, with the patches applied
- patched.py: kernels built from source with the series applied
- trixie.py: the kernel and headers of the next Debian release, in a folder of its own
- module.py: ringwalk.ko for one of them
- disks.py: disks, and the file systems on them
- initramfs.py: the archive that the guest boots into; guest/init is its first program
- accel.py: whether the processor's virtualization works here
- machine.py: QEMU's command line
- guest.py: one run: the console, the time limit, what comes back
- report.py: what counts as a broken kernel in its log
"""
