"""The error of helpers that this machine cannot serve."""


class Unavailable(Exception):
    """The error that a mount or a server cannot be had here, with the reason as text."""
