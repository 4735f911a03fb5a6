"""Rules that reading a problem folder enforces: the texts, the YAML, and what may lie in a folder."""

from __future__ import annotations

from ce_author.lint.registry import Report, Rule, rules
from ce_corpus.folder import ProblemFolder
from ce_schema.diagnostics import Severity

# Ids are those that ce_corpus.textfile, ce_corpus.yamltext and ce_corpus.folder report under.
_WHAT_HOLDS = {
    "text.unreadable": ("every file can be read", "A pack would lack what the author sees."),
    "text.too-large": ("no file is larger than a source file can be", "Packs are read whole, line by line."),
    "text.not-utf8": ("files are UTF-8", "Packs are JSON; other bytes would be replaced or refused."),
    "text.nul": ("files hold no NUL byte", "Compilers and JSON readers stop or differ at it."),
    "text.bom": ("files have no byte order mark", "It changes the first line for some readers only."),
    "text.crlf": ("lines end in LF", "A carriage return breaks scripts and changes hashes between machines."),
    "yaml.syntax": ("the spec is YAML", "Nothing of the problem can be read."),
    "yaml.duplicate-key": (
        "no key stands twice",
        "Readers silently take one of the two, not all the same one.",
    ),
    "yaml.ambiguous-scalar": (
        "every bare value is read alike by YAML 1.1 and 1.2",
        "The public evaluator reads 1.1, editors mostly 1.2: 12:30 or a bare date differ.",
    ),
    "yaml.alias": ("the spec uses no anchors", "Edits in place and the public reader disagree about them."),
    "yaml.tag": ("the spec uses no tags", "A tag can ask a reader to make anything."),
    "yaml.key": ("keys are text", "JSON, and so a pack, has no other keys."),
    "yaml.empty": ("the spec is not empty", "There is nothing to read."),
    "yaml.documents": ("the spec is one document", "Readers take the first or refuse."),
    "yaml.depth": ("the spec nests moderately", "Deep nesting is an attack or an accident."),
    "files.link": (
        "nothing is a symbolic link",
        "Packs hold no links, and a link may lead out of the folder.",
    ),
    "files.special": ("there are files and folders only", "Devices and pipes cannot be packed."),
    "files.path": (
        "paths can stand in a pack",
        "A pack's reader refuses paths with control characters or '..'.",
    ),
    "files.too-many": ("a part holds a moderate number of files", "A data set belongs elsewhere."),
    "spec.schema": (
        "the toolkit can read the spec",
        "Values that its models refuse cannot be packed, whatever the schema file says.",
    ),
}


# What to do where reading had nothing more exact to say.
_REMEDIES = {
    "text.unreadable": "see that the file is there and may be read",
    "yaml.syntax": "look at quotes, brackets and indentation here and on the line before",
    "yaml.key": "quote the key",
    "yaml.empty": "write the spec; ce-author new shows one",
    "yaml.depth": "write the value flatter",
    "files.too-many": "make such inputs in the test",
    "files.path": "rename the file",
    "spec.schema": "write keys and values",
}


@rules(
    *(
        Rule(rule_id, Severity.ERROR, summary, why, can_be_ignored=False)
        for rule_id, (summary, why) in _WHAT_HOLDS.items()
    )
)
def loading(folder: ProblemFolder, report: Report) -> None:
    """Report what reading the folder found."""
    for defect in folder.defects:
        remedy = defect.fix or _REMEDIES.get(defect.rule)
        report(defect.message, defect.location, remedy, rule=defect.rule)
