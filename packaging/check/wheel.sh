# The wheel, with this release's Python.
# shellcheck shell=bash
install python3-venv
python3 -m venv /tmp/venv
/tmp/venv/bin/pip install --no-index /dist/ringwalk-*.whl
make_tree
/tmp/venv/bin/python /check/scan.py /tmp/tree
