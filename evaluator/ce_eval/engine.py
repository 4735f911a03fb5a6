"""Runs work side by side, a bounded number of items in flight, and stops promptly when told to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait


def run_all[Item, Result](
    work: Callable[[Item], Result], items: Iterable[Item], workers: int, cancel: Callable[[], None]
) -> Iterator[Result]:
    """The results of ``work`` on each item as they are finished, in no particular order.

    At most twice ``workers`` items are taken ahead, so memory does not grow with their number. Leaving
    the loop early, by an exception or an interrupt, calls ``cancel``, which must make running work
    return at once.
    """
    pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="ce")
    pending: set[Future[Result]] = set()
    source = iter(items)
    exhausted = False
    try:
        while pending or not exhausted:
            while not exhausted and len(pending) < 2 * workers:
                try:
                    pending.add(pool.submit(work, next(source)))
                except StopIteration:
                    exhausted = True
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    finally:
        if pending:
            for future in pending:
                future.cancel()
            cancel()
        pool.shutdown(wait=True)
