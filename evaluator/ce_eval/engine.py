"""Runs work items side by side, a bounded number in flight, and stops promptly when told to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from ce_eval.pipeline import PipelineContext, grade
from ce_eval.plan import WorkItem
from ce_schema.grade import GradedSolution


def run_items(
    items: Iterable[WorkItem], context: PipelineContext, workers: int, cancel: Callable[[], None]
) -> Iterator[GradedSolution]:
    """Grades as they are finished, in no particular order.

    At most twice ``workers`` items are taken ahead, so memory does not grow with the pack. Leaving
    the loop early, by an exception or an interrupt, calls ``cancel``, which must make running jobs
    return at once.
    """
    pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="ce-eval")
    pending: set[Future[GradedSolution]] = set()
    source = iter(items)
    exhausted = False
    try:
        while pending or not exhausted:
            while not exhausted and len(pending) < 2 * workers:
                item = next(source, None)
                if item is None:
                    exhausted = True
                else:
                    pending.add(pool.submit(grade, item, context))
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    finally:
        if pending:
            for future in pending:
                future.cancel()
            cancel()
        pool.shutdown(wait=True)
