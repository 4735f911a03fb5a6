"""Speaks JSON for the public evaluator: run by its interpreter, with one command; the answer is on stdout.

The evaluator is a black box: only its documented classes and functions are called.
"""

import json
import sys
from pathlib import Path

from compute_eval.data.data_model import ReleaseVersion
from compute_eval.data.data_pack import ProblemDatapack, SolutionDatapack, open_problem_datapack
from compute_eval.data.loaders import load_problem_dir


def read_problems(path, release):
    """The problems of a pack, and what the evaluator knows of it."""
    with open_problem_datapack(ReleaseVersion(release), path) as pack:
        items = [json.loads(item.model_dump_json()) for item in pack.read_items()]
        return {"metadata": json.loads(pack.metadata.model_dump_json()), "items": items}


def read_solutions(path):
    with SolutionDatapack(path) as pack:
        items = [json.loads(item.model_dump_json()) for item in pack.read_items()]
        return {"metadata": json.loads(pack.metadata.model_dump_json()), "items": items}


def rewrite_problems(path, target, release):
    """Read a pack and write what was read as another."""
    with ProblemDatapack(path) as pack:
        ProblemDatapack.create(target, list(pack.read_items()), ReleaseVersion(release), "rewritten")


def rewrite_solutions(path, target, release, group):
    with SolutionDatapack(path) as pack:
        SolutionDatapack.create(target, list(pack.read_items()), ReleaseVersion(release), groups=[group])


def load_folders(*folders):
    """The problem and the reference in each folder, or None and what was said against it."""
    loaded = []
    for folder in folders:
        try:
            problem, solution = load_problem_dir(Path(folder))
        except Exception as error:  # noqa: BLE001 - whatever it raises is the answer
            loaded.append([None, repr(error)])
        else:
            loaded.append([problem.model_dump_json(), solution and solution.model_dump_json()])
    return loaded


COMMANDS = {
    command.__name__: command
    for command in (read_problems, read_solutions, rewrite_problems, rewrite_solutions, load_folders)
}

if __name__ == "__main__":
    # What the evaluator prints must not mix with the answer.
    answer, sys.stdout = sys.stdout, sys.stderr
    json.dump(COMMANDS[sys.argv[1]](*sys.argv[2:]), answer)
