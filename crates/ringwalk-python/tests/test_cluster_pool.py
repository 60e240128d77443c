"""Pending work: what tasks get, how much memory it needs, and budgets."""

import random
import tracemalloc

import pytest
from ringwalk.cluster import lines, pool
from ringwalk.cluster.budget import Budgets
from ringwalk.cluster.replay import Position


class Files:
    """Files with leftovers in which each line has 100 bytes."""

    def cut(self, file, offset, length, count):
        return 100 * count

    def count(self, file, offset, length):
        return length // 100


def commit(task, chunks):
    """A task that has left chunks: numbers of lines, negative for shares of huge directories."""
    made = [lines.Chunk(100 * abs(each), abs(each), each < 0) for each in chunks]
    todo = sum(each.length for each in made), 0
    counts = dict.fromkeys(lines.COUNTS, 0)
    return lines.Commit(1, task, 1, [], None, todo, None, made, counts, 1.0)


class Model:
    """A pool, and the log behind it."""

    def __init__(self, limit):
        self.log = []
        self.pool = pool.Pool(Files(), self.reread, limit)

    def reread(self, start):
        for number in range(start.offset, len(self.log)):
            yield Position(1, number), self.log[number]

    def add(self, chunks):
        made = commit(len(self.log) + 1, chunks)
        self.log.append(made)
        self.pool.add(Position(1, len(self.log) - 1), made)


@pytest.mark.parametrize("seed", range(20))
def test_each_line_is_taken_once_however_little_the_pool_holds(seed):
    chance = random.Random(seed)
    model = Model(chance.choice([30, 100, 10**6]))
    taken, number = set(), 0
    for _ in range(300):
        if chance.random() < 0.4:
            model.add([chance.choice([1, 3, 64, -1]) for _ in range(chance.randint(1, 9))])
            number += sum(map(abs, (each.lines for each in model.log[-1].chunks)))
        found = model.pool.take(chance.randint(1, 100))
        assert len(found) == 1 or not any(each.big for each in found)
        for each in found:
            assert each.length == 100 * each.lines
            for line in range(each.offset // 100, (each.offset + each.length) // 100):
                assert (each.task, line) not in taken
                taken.add((each.task, line))
    while found := model.pool.take(1000):
        for each in found:
            for line in range(each.offset // 100, (each.offset + each.length) // 100):
                assert (each.task, line) not in taken
                taken.add((each.task, line))
    assert len(taken) == number
    assert model.pool.lines == 0 and model.pool.held == 0


def test_a_chunk_is_cut_where_there_are_too_few():
    model = Model(1000)
    model.add([64])
    assert [each.lines for each in model.pool.take(16)] == [16]
    assert [(each.offset, each.lines) for each in model.pool.take(16)] == [(1600, 16)]
    assert [each.lines for each in model.pool.take(100)] == [32]
    assert model.pool.take(1) == []


def test_a_task_gets_less_than_twice_what_is_wanted():
    model = Model(1000)
    model.add([8, 61])
    assert sum(each.lines for each in model.pool.take(18)) == 18
    assert model.pool.lines == 51


def test_chunks_that_follow_each_other_are_one_piece():
    model = Model(1000)
    model.add([64, 64, 64])
    (piece,) = model.pool.take(100)
    assert (piece.offset, piece.length, piece.lines) == (0, 12800, 128)


@pytest.mark.parametrize("chunks", [[64], [1]])
def test_a_million_pending_directories_need_little_memory(chunks):
    model = Model(None)
    model.reread = None
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        made = commit(1, chunks * 100)
        for number in range(1_000_000 // len(made.chunks) // chunks[0]):
            model.pool.add(Position(1, number), made)
        used = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert model.pool.lines >= 990_000
    # The pool's part of the 256 MiB that the driver may need.
    assert used < 64 << 20


class Counted(list):
    """A list that counts how often it is read."""

    reads = 0

    def __iter__(self):
        self.reads += 1
        return super().__iter__()


def resumed(made, done):
    """The pool of a run that goes on after one task, whose leftovers are done in part."""
    found = pool.Pool(Files(), None)
    found.resume([(Position(1, 0), made)], {made.task}.__contains__, {made.task: done}, made.task)
    return found


def test_what_is_done_of_many_chunks_is_read_once():
    made = commit(1, [-1] * 1000)
    done = Counted((100 * number, 100) for number in range(990))
    found = resumed(made, done)
    assert done.reads == 1
    assert [found.take(1)[0].offset for _ in range(10)] == list(range(99000, 100000, 100))
    assert not found.take(1)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_not_done_is_pending_once(seed):
    chance = random.Random(seed)
    chunks = [chance.choice([1, 3, 64, -1]) for _ in range(30)]
    total = sum(map(abs, chunks))
    # Ranges of any length, which end within chunks and go over several of them.
    cuts = sorted(chance.sample(range(total + 1), 20))
    ranges = [(100 * begin, 100 * (end - begin)) for begin, end in zip(cuts[::2], cuts[1::2])]
    chance.shuffle(ranges)
    found, pending = resumed(commit(1, chunks), ranges), []
    while taken := found.take(100):
        for each in taken:
            assert each.length == 100 * each.lines
            pending += range(each.offset // 100, (each.offset + each.length) // 100)
    done = {line for begin, end in zip(cuts[::2], cuts[1::2]) for line in range(begin, end)}
    assert sorted(pending) == sorted(set(range(total)) - done)


def test_budgets_grow_with_the_pool_and_shrink_with_it():
    budgets = Budgets(60, 10, 0.001)
    assert budgets.least == 0.5
    for _ in range(200):
        # Long work: the pool gets shorter by one leftover a minute.
        budgets.learn(60, 10, 1)
    seconds = [budgets.seconds(lines, 100) for lines in (1, 10, 100, 640, 10**6)]
    assert seconds == sorted(seconds)
    assert seconds[0] < 1.2 and seconds[-2:] == [60, 60]


def test_the_least_budget_lets_the_driver_keep_up():
    # 1000 workers, 4.5 ms a task: with 5.4 s a task there are 185 tasks a second.
    assert Budgets(60, 1000, 0.0045).least == pytest.approx(5.4)
    # The user's budget is the greatest one, also where it is too short.
    assert Budgets(0.5, 1000, 0.0045).seconds(10**6, 1) == 0.5


def test_the_first_tasks_are_short_so_that_others_get_work():
    budgets = Budgets(60, 10, 0.001)
    assert budgets.seconds(1, 0) == 0.1
    assert budgets.seconds(10, 0) == 0.5
    # The driver of 1000 workers needs 5.4 s for a task of each.
    assert Budgets(60, 1000, 0.0045).seconds(1, 0) == pytest.approx(5.4)


def test_budgets_double_with_each_round_on_all_workers():
    budgets = Budgets(60, 10, 0.001)
    found = []
    for _ in range(5):
        found.append(budgets.seconds(10**6, 0))
        for _ in range(10):
            budgets.learn(0.5, 5, 0)
    assert found == [0.5, 1, 2, 4, 8]


def test_a_budget_is_at_most_half_the_time_that_remains():
    budgets = Budgets(60, 10, 0.001)
    for _ in range(200):
        budgets.learn(1, 10, 10)
    # Ten workers do 100 leftovers a second.
    assert budgets.seconds(10**6, 0) == 60
    assert budgets.seconds(800, 0) == pytest.approx(4)
    assert budgets.seconds(80, 0) == 0.5


def test_the_last_tasks_are_shorter_than_the_least_budget():
    budgets = Budgets(60, 10, 0.001)
    for _ in range(200):
        budgets.learn(1, 10, 10)
    found = [budgets.seconds(lines, 0) for lines in (80, 40, 20, 1)]
    assert found == pytest.approx([0.5, 0.3, 0.2, 0.105])


def test_budgets_shrink_when_workers_die():
    budgets = Budgets(10, 2, 0.001)
    for _ in range(50):
        budgets.died()
    # A death every two seconds: half a task of 0.4 s is a twentieth of the work.
    assert budgets.seconds(10**6, 100.0) == pytest.approx(0.4)
    assert budgets.seconds(10**6, 100.0, tries=1) == pytest.approx(0.1)


def test_a_task_gets_no_more_than_it_can_probably_read():
    budgets = Budgets(10, 2, 0.001)
    assert budgets.lines(10**6, 10) == 250_000
    budgets.learn(2.0, 200, 200)
    assert budgets.lines(10**6, 10) == 2000
