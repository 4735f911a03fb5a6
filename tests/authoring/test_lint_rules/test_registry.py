from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from lint_support import lint, write_problem

from ce_author.lint.registry import RULE_MODULES, all_checks, all_rules, chosen_rules, find_rule
from ce_schema.errors import InputError

HERE = Path(__file__).parent


def test_the_sound_problem_has_no_finding(tmp_path: Path) -> None:
    assert lint(write_problem(tmp_path)) == []


def test_every_module_of_rules_has_its_test_file() -> None:
    modules = {name.rpartition(".")[2] for name in RULE_MODULES}
    assert modules <= {path.stem.removeprefix("test_") for path in HERE.glob("test_*.py")}
    rules = Path(__import__("ce_author.lint.rules").lint.rules.__file__).parent
    assert modules == {path.stem for path in rules.glob("*.py")} - {"__init__"}


def test_every_rule_is_tested() -> None:
    tests = "".join(path.read_text() for path in HERE.glob("test_*.py"))
    aliases = {"schema.unknown-key", "schema.type", "schema.enum", "command.missing-file", "limits.timeout"}
    untested = [rule for rule in all_rules() if f'"{rule}"' not in tests and rule not in aliases]
    assert untested == []


def test_rules_come_in_the_order_of_their_modules_whichever_is_imported_first() -> None:
    ids = list(all_rules())
    late = RULE_MODULES[-1]
    program = f"import {late}; from ce_author.lint.registry import all_rules; print(*all_rules())"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ids
    assert ids[0].startswith("text.")
    assert ids[-1].startswith("suppress.")


def test_rules_are_told_in_words() -> None:
    ids = [rule.id for check in all_checks() for rule in check.rules]
    assert len(ids) == len(set(ids))
    for rule in all_rules().values():
        assert rule.summary
        assert not rule.summary.endswith(".")
        assert rule.why.endswith(".") or rule.why.endswith(".)")


def test_rules_are_chosen_by_name_and_area() -> None:
    assert chosen_rules(["prompt.empty"], None) == {"prompt.empty"}
    assert chosen_rules(["prompt"], ["prompt.empty"]) == {
        "prompt.template",
        "prompt.placeholder",
        "prompt.sample",
    }
    assert chosen_rules(None, None) == set(all_rules())


@pytest.mark.parametrize("names", [(["promt"], None), (None, ["prompt.emty"])])
def test_an_unknown_rule_is_told_with_near_names(names: tuple[list[str] | None, list[str] | None]) -> None:
    with pytest.raises(InputError, match="Did you mean prompt"):
        chosen_rules(*names)
    with pytest.raises(InputError, match=r"prompt\.empty"):
        find_rule("prompt.emty")
