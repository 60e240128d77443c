"""Lists the crates that are linked into an artefact, as SPDX 2.3 in JSON.

    python3 sbom.py CRATE COMMIT SECONDS

Prints the document of a crate of this workspace, for the platform that it runs on. COMMIT is what
is released, SECONDS its time. Needs Python 3.11 or newer, for tomllib.
"""

import json
import re
import subprocess
import sys
from datetime import datetime, timezone

import tomllib


def tree(crate):
    """Yields depth, name, version, licence and address of what is linked in, as cargo nests it."""
    about = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout
    platform = re.search("^host: (.*)$", about, re.M)[1]
    words = ["cargo", "tree", "--frozen", "--package", crate, "--target", platform]
    # No crate that only takes part in the build: procedural macros, build scripts.
    words += ["--edges", "normal,no-proc-macro", "--prefix", "depth", "--format", "|{p}|{l}|{r}"]
    lines = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
    for line in lines.splitlines():
        depth, package, licence, address = line.removesuffix(" (*)").split("|")
        name, version = package.split()[:2]
        # Old manifests separate licences by a slash.
        yield int(depth), name, version.removeprefix("v"), licence.replace("/", " OR "), address


def package(name, version, licence, address, checksum):
    """Returns a crate as SPDX describes it. `checksum` is None for the crates of this workspace."""
    found = {
        "SPDXID": identifier(name, version),
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": licence or "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "externalRefs": [
            {
                "referenceCategory": "PACKAGE-MANAGER",
                "referenceType": "purl",
                "referenceLocator": f"pkg:cargo/{name}@{version}",
            }
        ],
    }
    if address:
        found["homepage"] = address
    if checksum:
        found["downloadLocation"] = f"https://static.crates.io/crates/{name}/{version}/download"
        found["checksums"] = [{"algorithm": "SHA256", "checksumValue": checksum}]
    return found


def identifier(name, version):
    """Returns the name of a crate in the document: SPDX allows letters, digits, '.' and '-'."""
    return "SPDXRef-" + re.sub("[^A-Za-z0-9.-]", "-", f"{name}-{version}")


def relation(one, kind, other):
    """Returns a relation between two elements of the document."""
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


crate, commit, seconds = sys.argv[1:]
with open("Cargo.lock", "rb") as lock:
    locked = tomllib.load(lock)["package"]
checksums = {(each["name"], each["version"]): each.get("checksum") for each in locked}
packages, relations, above = {}, [], []
# The crate itself comes first, and those that a crate needs come after it, one level deeper.
for depth, name, version, licence, address in tree(crate):
    own = identifier(name, version)
    packages[own] = package(name, version, licence, address, checksums[name, version])
    del above[depth:]
    if above:
        relations.append(relation(above[-1], "DEPENDS_ON", own))
    else:
        relations.append(relation("SPDXRef-DOCUMENT", "DESCRIBES", own))
    above.append(own)
made = datetime.fromtimestamp(int(seconds), timezone.utc)
document = {
    "spdxVersion": "SPDX-2.3",
    "dataLicense": "CC0-1.0",
    "SPDXID": "SPDXRef-DOCUMENT",
    "name": crate,
    "documentNamespace": f"https://spdx.org/spdxdocs/{crate}-{commit}",
    "creationInfo": {
        "created": made.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "creators": ["Tool: ringwalk-packaging-sbom"],
    },
    "packages": [packages[each] for each in sorted(packages)],
    "relationships": relations,
}
json.dump(document, sys.stdout, indent=1)
print()
