"""Makes what cargo-sbom writes reproducible, and valid by SPDX 2.3.

The time of its making and the random part of its name differ from run to run. Identifiers have
characters that SPDX does not allow, and places to download from are cargo's own words for them.
Reads the document from standard input and writes it to standard output.

    python3 fix-sbom.py SECONDS COMMIT
"""

import json
import re
import sys
from datetime import datetime, timezone


def fixed(value):
    """Returns a part of the document as SPDX allows it."""
    if isinstance(value, dict):
        return {key: fixed(each) for key, each in value.items()}
    if isinstance(value, list):
        # cargo-sbom writes lists in any order.
        return sorted((fixed(each) for each in value), key=json.dumps)
    if isinstance(value, str) and value.startswith("SPDXRef-"):
        return re.sub("[^A-Za-z0-9.-]", "-", value)
    if isinstance(value, str) and value.startswith("registry+"):
        # Each package is also named by its address as a "purl".
        return "NOASSERTION"
    return value


seconds, commit = sys.argv[1:]
document = fixed(json.load(sys.stdin))
made = datetime.fromtimestamp(int(seconds), timezone.utc)
document["creationInfo"]["created"] = made.strftime("%Y-%m-%dT%H:%M:%SZ")
# .../spdxdocs/NAME-UUID: 36 characters.
document["documentNamespace"] = document["documentNamespace"][:-36] + commit
json.dump(document, sys.stdout, indent=1, sort_keys=True)
print()
