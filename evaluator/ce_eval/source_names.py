"""The names that source files use, in a form that answers many questions about them.

Names are kept as chains: ``cub::DeviceReduce::Sum`` and ``cuda.shared.array`` are chains of three, ``.``,
``->`` and ``::`` join alike. A chain is found as it is written and as what its first part stands for
(``namespace cg = cooperative_groups``, ``using``, ``typedef``, ``import … as``). Two readings add up:

- a flat scan of the code finds each chain written in one piece, in macro bodies and in stretches that the
  grammar cannot parse as well as anywhere else;
- the syntax tree adds the chains that template arguments, calls or subscripts interrupt, as in
  ``cub::BlockReduce<T, 128>(storage).Sum(x)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ce_eval.parsing import Language, ParsedSource

if TYPE_CHECKING:
    from tree_sitter import Node

type Chain = tuple[str, ...]

# Long enough for every real name; bounds what a chain of a hundred thousand members can cost.
_MAX_PARTS = 12
_MAX_ALIAS_STEPS = 4
_MAX_MEANINGS = 8

_NAME = r"[^\W\d][\w$]*+"
_QUALIFIED = rf"(?:::\s*+)?{_NAME}(?:\s*+::\s*+{_NAME})*+"
# Numbers come first, or the exponent of 1.e5 would be a name.
_FLAT = re.compile(rf"\d[\w.]*+|({_NAME}(?:\s*+(?:::|\.|->)\s*+(?:template\s++)?~?{_NAME})*+)")
_PART = re.compile(_NAME)
# No \b in front: a literal start makes the search fast, and no keyword stands behind a longer word's end.
_CPP_ALIASES = (
    re.compile(rf"namespace\s+(?P<name>{_NAME})\s*=\s*(?P<target>{_QUALIFIED})\s*;"),
    re.compile(rf"using\s+(?P<name>{_NAME})\s*=\s*(?:typename\s+)?(?P<target>{_QUALIFIED})"),
    re.compile(
        rf"typedef\s+(?:typename\s+)?(?P<target>{_QUALIFIED})[^;{{}}]{{0,400}}?\b(?P<name>{_NAME})\s*;"
    ),
    re.compile(
        rf"^[ \t]*#[ \t]*define[ \t]+(?P<name>{_NAME})[ \t]+(?P<target>{_QUALIFIED})[ \t\r]*$", re.MULTILINE
    ),
)
_CPP_USING_NAME = re.compile(rf"using\s+(?:typename\s+)?(?P<target>{_QUALIFIED})\s*[;,]")
_CPP_USING_NAMESPACE = re.compile(rf"using\s+namespace\s+(?P<target>{_QUALIFIED})\s*;")

_BLANKS = re.compile(r"(?:\s|\\\n)++")
_NOT_BETWEEN_WORDS = re.compile(r"(?<!\w) | (?!\w)")

_JOINING = frozenset({"qualified_identifier", "field_expression", "attribute", "dotted_name"})
# Nodes that stand for what their first named part stands for: arguments come after it.
_PASSING = frozenset(
    {
        "template_type",
        "template_function",
        "template_method",
        "dependent_name",
        "dependent_type",
        "call_expression",
        "subscript_expression",
        "parenthesized_expression",
        "call",
        "subscript",
    }
)


def _chain(text: str) -> Chain:
    """The parts of a written name; ``a.template b`` is ``a.b``."""
    first, *rest = _PART.findall(text) or [""]
    return (first, *(part for part in rest if part != "template"))[:_MAX_PARTS] if first else ()


@dataclass(slots=True)
class Aliases:
    """What names are short for, and which namespaces need not be written."""

    meanings: dict[str, set[Chain]] = field(default_factory=dict)
    opened: set[Chain] = field(default_factory=set)

    def add(self, name: str, target: Chain) -> None:
        """Note that ``name`` stands for ``target``."""
        meanings = self.meanings.setdefault(name, set())
        if target and target != (name,) and len(meanings) < _MAX_MEANINGS:
            meanings.add(target)

    def resolve(self, chain: Chain) -> set[Chain]:
        """The chain and everything it stands for."""
        known = {chain}
        latest = known
        for _ in range(_MAX_ALIAS_STEPS):
            latest = {
                (target + each[1:])[:_MAX_PARTS]
                for each in latest
                for target in self.meanings.get(each[0], ())
            } - known
            if not latest or len(known) > _MAX_MEANINGS:
                break
            known |= latest
        return known

    def collect(self, source: ParsedSource) -> None:
        """Note the aliases that a file declares. They hold in every file: includes are not followed."""
        if source.language is Language.PYTHON:
            for node in source.nodes():
                self._collect_python(node, source.code)
            return
        code = source.code.decode(errors="replace")
        for pattern in _CPP_ALIASES:
            for match in pattern.finditer(code):
                self.add(match["name"], _chain(match["target"]))
        for match in _CPP_USING_NAME.finditer(code):
            if len(target := _chain(match["target"])) > 1:
                self.add(target[-1], target)
        self.opened.update(_chain(match["target"]) for match in _CPP_USING_NAMESPACE.finditer(code))

    def _collect_python(self, node: Node, code: bytes) -> None:
        if node.type == "import_statement":
            for name, target in _imported(node, code):
                self.add(name, target)
        elif node.type == "import_from_statement":
            module = node.child_by_field_name("module_name")
            parent = _chain(_text(module, code)) if module else ()
            for name, target in _imported(node, code):
                self.add(name, parent + target)
            if any(child.type == "wildcard_import" for child in node.children):
                self.opened.add(parent)
        elif node.type == "assignment":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left and right and left.type == "identifier" and right.type in ("identifier", "attribute"):
                self.add(_text(left, code), _chain(_text(right, code)))


def _text(node: Node, code: bytes) -> str:
    return code[node.start_byte : node.end_byte].decode(errors="replace")


def _imported(statement: Node, code: bytes) -> Iterator[tuple[str, Chain]]:
    """The names an import statement binds, with what each is in the module (or as a module)."""
    for child in statement.children_by_field_name("name"):
        if child.type == "aliased_import":
            name, alias = child.child_by_field_name("name"), child.child_by_field_name("alias")
            if name and alias:
                yield _text(alias, code), _chain(_text(name, code))
        elif target := _chain(_text(child, code)):
            # ``import a.b`` binds ``a``; only ``from m import b`` makes ``b`` short for something.
            yield target[0], target[:1]


class SourceNames:
    """The names used in some files. ``context`` files only lend their aliases."""

    def __init__(self, sources: Iterable[ParsedSource], context: Iterable[ParsedSource] = ()) -> None:
        self._sources = tuple(sources)
        self._context = tuple(context)

    def uses(self, parts: Chain) -> bool:
        """Whether ``parts`` stand next to one another in a name that is used, under any of its meanings."""
        return self._within(parts, self._flat) or (len(parts) > 1 and self._within(parts, self._interrupted))

    def spells(self, phrase: str) -> bool:
        """Whether the code holds ``phrase`` as a run of tokens; blanks between tokens do not matter."""
        wanted = squeeze(phrase)
        before = r"(?<!\w)" if wanted[:1].isalnum() or wanted[:1] == "_" else ""
        after = r"(?!\w)" if wanted[-1:].isalnum() or wanted[-1:] == "_" else ""
        return bool(wanted) and re.search(before + re.escape(wanted) + after, self._squeezed) is not None

    def includes(self, header: str) -> bool:
        """Whether a file includes ``header``; leading folders of the directive's path may be left out."""
        written = (f"/{path}" for source in self._sources for path in source.headers)
        return any(path.endswith(f"/{header}") for path in written)

    def _within(self, parts: Chain, index: str) -> bool:
        joined = ".".join(parts)
        if f".{joined}." in index:
            return True
        # With ``using namespace a::b``, ``c::d`` at the start of a name is ``a::b::c::d``.
        return any(
            parts[:cut] in self._opened_tails and f"\n.{'.'.join(parts[cut:])}." in index
            for cut in range(1, len(parts))
        )

    @cached_property
    def _aliases(self) -> Aliases:
        aliases = Aliases()
        for source in (*self._context, *self._sources):
            aliases.collect(source)
        return aliases

    @cached_property
    def _opened_tails(self) -> frozenset[Chain]:
        spaces = (meaning for space in self._aliases.opened for meaning in self._aliases.resolve(space))
        return frozenset(space[start:] for space in spaces for start in range(len(space)))

    @cached_property
    def _flat(self) -> str:
        return self._index(chain for source in self._sources for chain in _flat_chains(source))

    @cached_property
    def _interrupted(self) -> str:
        return self._index(chain for source in self._sources for chain in _tree_chains(source))

    def _index(self, chains: Iterable[Chain]) -> str:
        """All chains and their meanings as one text: ``\\n.a.b.`` a chain, so that a look-up is a search."""
        meanings = (meaning for chain in set(chains) for meaning in self._aliases.resolve(chain))
        return "\n" + "\n".join(f".{'.'.join(chain)}." for chain in meanings)

    @cached_property
    def _squeezed(self) -> str:
        return "\n".join(
            squeeze(part.decode(errors="replace")) for s in self._sources for part in (s.code, s.embedded)
        )


def squeeze(code: str) -> str:
    """Code without the blanks that separate nothing: one space between words, none elsewhere."""
    return _NOT_BETWEEN_WORDS.sub("", _BLANKS.sub(" ", code))


def _flat_chains(source: ParsedSource) -> Iterator[Chain]:
    for text in (source.code, source.embedded):
        joined = text.decode(errors="replace").replace("\\\n", " ")
        for written in set(_FLAT.findall(joined)):
            if written:
                yield _chain(written)


def _tree_chains(source: ParsedSource) -> Iterator[Chain]:
    """The chains of the tree's outermost qualified names, member accesses and calls."""
    if source.tree is None:
        return
    cursor, code = source.tree.walk(), source.code
    # One entry a node on the way down: its type and the chain gathered from the children seen so far.
    path: list[tuple[str, Chain]] = []
    while True:
        node = cursor.node
        kind = node.type if node else ""
        path.append((kind, ()))
        if cursor.goto_first_child():
            continue
        if node and kind.endswith("identifier"):
            path[-1] = (kind, (_text(node, code),))
        while True:
            kind, chain = path.pop()
            parent, gathered = path[-1] if path else ("", ())
            if parent in _JOINING:
                path[-1] = (parent, (gathered + chain)[:_MAX_PARTS])
            elif parent in _PASSING:
                path[-1] = (parent, gathered or chain)
                if gathered and len(chain) > 1:
                    yield chain
            elif len(chain) > 1:
                yield chain
            if cursor.goto_next_sibling():
                break
            if not cursor.goto_parent():
                return
