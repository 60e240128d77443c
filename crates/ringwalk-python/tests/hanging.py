"""A FUSE file system whose server stops answering, and a program that is interrupted then.

    hanging.py OPERATION POINT CODE

Mounts it at POINT, in a mount namespace of its own, and runs CODE, whose `point` is that. The root
has one file of a type that is not listed. When the program's first request of an OPERATION (`open`
or `read` of the directory, `stat` of the file) has come, the server does not answer it, and
interrupts the program as Ctrl-C does. What the program then says is repeated here. Only after that
the server answers, with an error: until then the kernel does not let the program end.
"""

import ctypes
import errno
import os
import select
import signal
import struct
import subprocess
import sys
import threading

# Seconds. Nothing takes as long even on a busy machine, as the server never answers by itself.
PATIENCE = 100

# From linux/fuse.h.
LOOKUP, FORGET, GETATTR, STATFS, INIT, OPENDIR, READDIR = 1, 2, 3, 17, 26, 27, 28
RELEASEDIR, ACCESS, INTERRUPT, BATCH_FORGET = 29, 34, 36, 42
HANGS = {"open": OPENDIR, "read": READDIR, "stat": LOOKUP}
DIRECTORY = 0o040755
ATTRIBUTES = struct.pack("<QIIQQQQQQIIIIIIIIII", 0, 0, 0, 1, *[0] * 8, DIRECTORY, 2, *[0] * 5)
# In the protocol's version 7.19, whose answer to INIT has 24 bytes.
VERSION = struct.pack("<IIIIHHI", 7, 19, 65536, 0, 12, 9, 65536)

CLONE_NEWNS, MS_REC, MS_PRIVATE, MS_NOSUID = 0x20000, 0x4000, 1 << 18, 2


def mount(point: str) -> int:
    """Mounts it, and returns the descriptor of the server."""
    libc = ctypes.CDLL(None, use_errno=True)

    def check(status):
        if status != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    server = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={server},rootmode=40000,user_id=0,group_id=0".encode()
    check(libc.unshare(CLONE_NEWNS))
    check(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
    check(libc.mount(b"hanging", os.fsencode(point), b"fuse", MS_NOSUID, options))
    return server


def entries(offset: int) -> bytes:
    """The directory: one file, of unknown type."""
    if offset:
        return b""
    return struct.pack("<QQII", 2, 1, 4, 0) + b"file".ljust(8, b"\0")


def answer(opcode: int, body: bytes) -> bytes | int:
    """What is said to a request, or an errno."""
    if opcode == INIT:
        return VERSION
    if opcode == GETATTR:
        return ATTRIBUTES
    if opcode == OPENDIR:
        return struct.pack("<QII", 1, 0, 0)
    if opcode == READDIR:
        return entries(struct.unpack_from("<Q", body, 8)[0])
    if opcode == STATFS:
        return struct.pack("<QQQQQIIII24x", *[0] * 5, 4096, 255, 4096, 0)
    return b"" if opcode in (RELEASEDIR, ACCESS) else errno.ENOSYS


class Server:
    """Answers requests until the first one of an operation."""

    def __init__(self, fd: int, hangs: int) -> None:
        self.fd = fd
        self.hangs = hangs
        self.hanging: list[int] = []
        self.begun = threading.Event()
        self.over = False
        self.lock = threading.Lock()

    def serve(self) -> None:
        while True:
            request = os.read(self.fd, 1 << 17)
            opcode, unique = struct.unpack_from("<4xIQ", request)
            if opcode in (FORGET, BATCH_FORGET, INTERRUPT):
                continue
            if opcode != self.hangs:
                self.say(unique, answer(opcode, request[40:]))
                continue
            with self.lock:
                if self.over:
                    self.say(unique, errno.EIO)
                else:
                    self.hanging.append(unique)
                    self.begun.set()

    def say(self, unique: int, said: bytes | int) -> None:
        error, text = (-said, b"") if isinstance(said, int) else (0, said)
        os.write(self.fd, struct.pack("<IiQ", 16 + len(text), error, unique) + text)

    def end(self) -> None:
        with self.lock:
            self.over = True
            for unique in self.hanging:
                self.say(unique, errno.EIO)


def main() -> None:
    operation, point, code = sys.argv[1:]
    # A shell has programs in the background ignore it, and so would the program started here.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    server = Server(mount(point), HANGS[operation])
    threading.Thread(target=server.serve, daemon=True).start()
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code, point], stdout=pipe, text=True) as program:
        try:
            if server.begun.wait(PATIENCE):
                program.send_signal(signal.SIGINT)
                said, _, _ = select.select([program.stdout], [], [], PATIENCE)
                print(program.stdout.readline().strip() if said else "too late", flush=True)
            else:
                print("no such request", flush=True)
        finally:
            server.end()
        print(program.wait(PATIENCE), flush=True)
    # The mount goes with this process.
    os._exit(0)


if __name__ == "__main__":
    main()
