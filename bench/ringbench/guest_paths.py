"""Where things are in a guest."""

# Files given to kernel/vm/run lie below this.
PAYLOAD = "/payload"
