# The wheel, with this release's Python.
# shellcheck shell=bash
install python3-venv
python3 -m venv /tmp/venv
/tmp/venv/bin/pip install --no-index /dist/ringwalk-*.whl
# Its list of crates is that of this platform, and the only one.
same "$(cd /tmp/venv/lib/python3*/site-packages/ringwalk-*.dist-info/sboms && ls)" \
  "$(basename /dist/ringwalk-python-*.spdx.json)"
make_tree
/tmp/venv/bin/python /check/scan.py /tmp/tree
