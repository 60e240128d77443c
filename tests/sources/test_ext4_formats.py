"""ext2, ext3 and ext4 in every format: the same answers from the block device as by system calls.

The images are mounted read-only, so that nothing in them is unsettled and all is the source's own
answer.
"""

from __future__ import annotations

import pytest
from support import images, mounts
from support.answers import FEW, FIELDS, QUESTIONS, Reference
from support.find import assert_same

pytestmark = pytest.mark.usefixtures("needs_root")

# Formats test the decoder, questions test its users. So not every format needs every question.
ALL_QUESTIONS = ("ext4", "ext2-1k", "inline-data")


@pytest.fixture(scope="module", params=images.EXT4)
def form(request):
    """The name of a format."""
    return request.param


@pytest.fixture(scope="module")
def image(request, form, base):
    """A filled image of each format."""
    with mounts.or_skip(
        request.config, images.filled, "ext4", images.EXT4[form], base / "formats"
    ) as image:
        yield image


@pytest.fixture(scope="module")
def reference(image, ringwalk):
    """The answers of system calls."""
    return Reference(ringwalk, image.point)


def test_every_answer(form, reference):
    questions = QUESTIONS if form in ALL_QUESTIONS else FEW
    reference.check("--source", "ext4", questions=questions)
    reference.check("--source", "ext4", "--workers", "5", questions=("fields", "one size"))


@pytest.mark.parametrize("source", ("syscall", "ext4"))
def test_reading_ahead(image, reference, source):
    # The next mount may use another loop device.
    image.remount()
    question = "fields, any device"
    reference.check("--source", source, "--prefetch", "always", questions=(question,))
    image.remount()
    reference.check("--source", source, "--prefetch", "always", questions=("one size",))


def test_the_reference_is_gnus(reference, find, gnu_find):
    """System calls, the reference of the sources, give the answers of GNU find."""
    # GNU find 4.9 prints no times of birth.
    args = (".", "-printf", FIELDS.replace("|%B@", ""))
    options = {"cwd": reference.top, "env": {"RINGWALK_SOURCE": "syscall"}, "separator": b"\0"}
    assert len(assert_same(find, gnu_find, *args, **options).out) > 100
