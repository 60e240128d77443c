# The sdist, built without a network.
# shellcheck shell=bash
install python3-venv gcc libc6-dev
python3 -m venv /tmp/venv
/tmp/venv/bin/pip install --no-index --find-links /wheels maturin
export PATH=/tmp/venv/bin:$PATH
unshare --net /tmp/venv/bin/pip install --no-index --no-build-isolation /dist/ringwalk-[0-9]*.tar.gz
make_tree
/tmp/venv/bin/python /check/scan.py /tmp/tree
