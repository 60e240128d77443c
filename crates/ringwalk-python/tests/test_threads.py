"""Everything at once, by many threads: meant for free-threaded interpreters, right for all."""

import contextlib
import sys
import sysconfig
import threading

import ringwalk
from support import PATIENCE, listed, run


def at_once(work, threads: int = 8) -> None:
    """Has many threads do the same, all beginning together; what one raises is raised."""
    ready, raised = threading.Barrier(threads), []

    def begin():
        try:
            ready.wait()
            work()
        except BaseException as error:
            raised.append(error)

    workers = [threading.Thread(target=begin) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(PATIENCE)
    assert not any(worker.is_alive() for worker in workers)
    if raised:
        raise raised[0]


def test_the_interpreters_lock_is_not_asked_for():
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        # The module declares it to all interpreters alike; only these would say if it did not.
        assert not hasattr(sys, "_is_gil_enabled") or sys._is_gil_enabled()
        return
    script = "import sys, ringwalk; print(sys._is_gil_enabled())"
    done = run(script)
    assert (done.stdout, done.stderr) == ("False\n", ""), "importing it turned the lock on"


def test_functions(tree):
    expected = len(listed(tree))

    def work():
        for _ in range(5):
            assert sum(map(len, ringwalk.scan(tree, batch_size=9))) == expected
            assert len(list(ringwalk.find(tree))) == expected
            assert ringwalk.du(tree).entries == expected - 1
            assert ringwalk.count(tree).entries == expected - 1
        assert ringwalk.doctor(tree)["sources"]

    at_once(work)


def test_one_scan_read_asked_and_closed_by_all(tree):
    for _ in range(20):
        scan = ringwalk.scan([tree] * 10, batch_size=5)
        turns = iter(range(8))

        def work(scan=scan, turns=turns):
            closes = next(turns, None) == 0
            with contextlib.suppress(ValueError):
                for number, batch in enumerate(scan):
                    assert 0 < len(batch) <= 5
                    len(scan.errors), scan.summary, scan.fields, repr(scan)
                    if closes and number == 3:
                        scan.close()

        at_once(work)


def test_one_search_taken_by_all(tree):
    for _ in range(20):
        found, paths = ringwalk.find(tree), []
        at_once(lambda found=found, paths=paths: paths.extend(found))
        assert sorted(map(str, paths)) == sorted(map(str, ringwalk.find(tree)))


def test_one_batch_exported_by_all(tree):
    batch = next(ringwalk.scan(tree))

    def work():
        for _ in range(200):
            batch.__arrow_c_array__()
            batch.__arrow_c_schema__()

    at_once(work)
    assert len(batch)
