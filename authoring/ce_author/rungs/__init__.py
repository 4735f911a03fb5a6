"""The authoring ladder: one module a rung, one function each, found through `RUNGS`."""

from __future__ import annotations

from collections.abc import Callable

from ce_author.rungs.base import Climb, Ground
from ce_author.rungs.build import climb_build
from ce_author.rungs.lint import climb_lint
from ce_author.rungs.test import climb_test
from ce_schema.certificate import Rung, RungResult

RUNGS: dict[Rung, Callable[[Climb], RungResult]] = {
    Rung.LINT: climb_lint,
    Rung.BUILD: climb_build,
    Rung.TEST: climb_test,
}

__all__ = ["RUNGS", "Climb", "Ground"]
