from __future__ import annotations

from pathlib import Path

from lint_support import Case, check, table

ALL = "  all: [cudaMemcpyAsync]"
BLOCK = f"source_references:\n{ALL}"


@table(
    Case(
        "references.empty", spec={ALL: "  all: []"}, at="problem-spec.yaml:19:8", says="source_references.all"
    ),
    Case(
        "references.empty", spec={BLOCK: 'source_references: " "'}, at="problem-spec.yaml:18:20", says="blank"
    ),
    Case("references.empty", spec={BLOCK: "source_references: null"}),
    Case("references.empty"),
    Case(
        "references.unmentioned",
        spec={ALL: "  all: [cudaMemcpyAsync, cudaMallocAsync]"},
        at="problem-spec.yaml:19:26",
    ),
    Case(
        "references.unmentioned",
        spec={BLOCK: "source_references: cub::DeviceScan"},
        at="problem-spec.yaml:18:20",
    ),
    Case(
        "references.unmentioned",
        spec={ALL: "  any: [cudaMallocAsync, cudaFreeAsync]"},
        at="problem-spec.yaml:19:8",
    ),
    Case("references.unmentioned", spec={ALL: "  any: [cudaMallocAsync, cudaMemcpyAsync]"}),
    Case("references.unmentioned", spec={ALL: "  all: [some::scale]"}),
    Case(
        "references.unmentioned", spec={ALL: "  all: [__global__]"}, files={"context/a.h": "// __global__\n"}
    ),
    Case(
        "references.unmentioned",
        spec={"cudaMemcpyAsync.": "it.", "test/*.cu": "test/*.cu -DX=cudaMemcpyAsync"},
    ),
    Case(
        "references.unsatisfied",
        files={"solution/solution.cu": "void scale(float*, int) {}\n"},
        at="problem-spec.yaml:19:3",
    ),
    Case(
        "references.unsatisfied",
        files={"solution/solution.cu": "// cudaMemcpyAsync\n"},
        at="problem-spec.yaml:19:3",
    ),
    Case("references.unsatisfied"),
)
def test_rules(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)
