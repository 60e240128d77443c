"""Types of the compiled module. What is documented here is public by way of `ringwalk`."""

from typing import Final

__version__: Final[str]
