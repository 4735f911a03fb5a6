"""Rules about what a problem is called, when it was made, and where it belongs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from ce_author.lint.facts import text_at
from ce_author.lint.registry import Report, corpus_rule, rule
from ce_corpus.folder import ProblemFolder
from ce_schema.diagnostics import Severity
from ce_schema.errors import did_you_mean
from ce_schema.groups import groups
from ce_schema.paths import folder_name, is_task_id

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")


@rule(
    "identity.folder-name",
    Severity.ERROR,
    "the folder is called like the task, with '/' written as '-'",
    why="Readers of problem folders, the public one too, refuse a folder of another name.",
)
def folder_is_named_after_task(folder: ProblemFolder, report: Report) -> None:
    """Compare the folder's name with ``task_id``."""
    task_id = text_at(folder, "task_id")
    if task_id is None or not is_task_id(task_id) or folder_name(task_id) == folder.path.name:
        return
    report(
        f"task_id {task_id} does not belong in a folder called {folder.path.name}",
        folder.where("task_id"),
        f"rename the folder to {folder_name(task_id)}, or correct the task_id",
    )


@corpus_rule(
    "identity.duplicate-task",
    Severity.ERROR,
    "no two problems have one task_id",
    why="A release, its grades and its certificates know a problem by its task_id alone.",
)
def tasks_are_unique(folders: Sequence[ProblemFolder], report: Report) -> None:
    """Report every problem whose task_id another one has."""
    owners: dict[str, list[ProblemFolder]] = {}
    for folder in folders:
        if (task_id := text_at(folder, "task_id")) is not None:
            # Case and '/' against '-' are told apart neither by every file system nor by folder names.
            owners.setdefault(folder_name(task_id).lower(), []).append(folder)
    for same in owners.values():
        for folder in same if len(same) > 1 else ():
            others = ", ".join(str(other.where("task_id")) for other in same if other is not folder)
            report(
                f"task_id {text_at(folder, 'task_id')} is also that of {others}",
                folder.where("task_id"),
                "give one of them a number that was never used",
            )


@rule(
    "identity.date",
    Severity.ERROR,
    "date is a day that has been",
    why="Readers sort and filter by it, and it tells what a model can have seen in training.",
)
def date_has_been(folder: ProblemFolder, report: Report) -> None:
    """Take the date at its word."""
    written = text_at(folder, "date")
    if written is None or not _DATE.match(written):
        return
    try:
        day = date.fromisoformat(written)
    except ValueError:
        report(f"there is no day {written}", folder.where("date"), 'write an existing day as "YYYY-MM-DD"')
        return
    # Somewhere it is tomorrow already.
    if day > datetime.now(UTC).date() + timedelta(days=1):
        report(f"{written} lies in the future", folder.where("date"), "write the day it was created")


@rule(
    "identity.group-language",
    Severity.WARNING,
    "problem_type is the language of the group",
    why="Templates, images and default commands go by group; a problem in the other language fits none.",
)
def group_has_language(folder: ProblemFolder, report: Report) -> None:
    """Compare problem_type with the group's."""
    group = groups().get(text_at(folder, "group") or "")
    language = text_at(folder, "problem_type")
    if group is None or language not in {"cuda_cpp", "cuda_python"} or language == group.language:
        return
    report(
        f"a {language} problem stands in {group.name}, a group of {group.language} problems",
        folder.where("group"),
        "choose another group, or correct problem_type",
    )


@rule(
    "identity.topic",
    Severity.ERROR,
    "metadata.topic is a topic of the group",
    why="--include and --exclude find a problem by its topic; an unknown one is never found.",
)
def topic_is_of_group(folder: ProblemFolder, report: Report) -> None:
    """Look the topic up in the group."""
    group = groups().get(text_at(folder, "group") or "")
    topic = text_at(folder, "metadata", "topic")
    if group is None or not topic or topic in {group.name, *group.topics}:
        return
    owner = next((other.name for other in groups().values() if topic in other.topics), None)
    if owner:
        fix = f"write group: {owner}, or another topic"
    elif group.topics:
        fix = f"one of: {', '.join(group.topics)}"
    else:
        fix = "remove it; use tags for finer words"
    report(
        f"{group.name} has no topic '{topic}'.{did_you_mean(topic, list(group.topics))}",
        folder.where("metadata", "topic"),
        fix,
    )


@rule(
    "identity.group-folder",
    Severity.WARNING,
    "the problem lies in the folder of its group",
    why="People look for it there, and naming that folder on the command line means the group.",
)
def lies_with_its_group(folder: ProblemFolder, report: Report) -> None:
    """Compare the parent folder, where it is called like a group, with the group."""
    group, parent = text_at(folder, "group"), folder.path.absolute().parent.name
    if group in groups() and parent in groups() and parent != group:
        report(f"a problem of {group} lies in {parent}", folder.where("group"), f"move it to {group}/")
