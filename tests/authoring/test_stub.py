"""Stubs derived from references: nothing left that works, and never an unsound guess."""

from __future__ import annotations

import ast
import shutil
import subprocess
from pathlib import Path

import pytest

from ce_author.stub import derive_stub
from ce_corpus.folder import load_folder
from ce_corpus.index import problem_folders
from ce_schema.solution import FileSolution, SourceFile

CORPUS = Path(__file__).parents[2] / "corpus" / "problems"


def stub_of(text: str, path: str = "solution.cu") -> str | None:
    reference = FileSolution(task_id="a/1", files=[SourceFile(path=path, content=text)])
    stub = derive_stub(reference)
    if stub is None:
        return None
    assert stub.task_id == "a/1"
    (file,) = stub.files
    assert file.path == path
    return file.content


@pytest.mark.parametrize(
    ("text", "stub"),
    [
        ("void f(int n) { g(n); }", "void f(int n) {}"),
        ("int f() { return 1; }", "int f() { return {}; }"),
        ("void* f() { return p; }", "void* f() { return {}; }"),
        ("std::vector<int> f() { return {1}; }", "std::vector<int> f() { return {}; }"),
        ("auto f(int x) -> int { return x; }", "auto f(int x) -> int { return {}; }"),
        ("auto f(int x) -> void { g(x); }", "auto f(int x) -> void {}"),
        ("__global__ void k(int* p) { *p = 1; }", "__global__ void k(int* p) {}"),
        (
            "__global__ void __launch_bounds__(256, 2) k(int* p) { *p = 1; }",
            "__global__ void __launch_bounds__(256, 2) k(int* p) {}",
        ),
        ('extern "C" int f() { return 1; }', 'extern "C" int f() { return {}; }'),
        ('extern "C" { void f() { g(); } }', 'extern "C" { void f() {} }'),
        ("template <class T> T f(T x) { return x; }", "template <class T> T f(T x) { return {}; }"),
        ("template <> int f<2>(int x) { return x; }", "template <> int f<2>(int x) { return {}; }"),
        ("namespace a::b { int f() { return 1; } }", "namespace a::b { int f() { return {}; } }"),
        ("inline int f() { return 1; }", "inline int f() { return {}; }"),
        ("int A::f() const { return x; }", "int A::f() const { return {}; }"),
        ("A::A(int x) : x_(x) { g(); }", "A::A(int x) : x_(x) {}"),
        ("A::~A() { g(); }", "A::~A() {}"),
        ("A::operator int() const { return x; }", "A::operator int() const { return {}; }"),
        ("int f() try { return g(); } catch (...) { return 0; }", "int f() { return {}; }"),
        ("#ifdef X\nint f() { return 1; }\n#endif\n", "#ifdef X\nint f() { return {}; }\n#endif\n"),
        # The grammar does not know such lambdas; its error goes away with the body.
        ("void f(int n) { g([=] __device__(int i) { h(i, n); }); }", "void f(int n) {}"),
        ('void f() { g("}"); /* } */ }  // ende: ä', "void f() {}  // ende: ä"),
    ],
)
def test_functions_that_others_can_call_are_emptied(text: str, stub: str) -> None:
    assert stub_of(text) == stub


@pytest.mark.parametrize(
    "kept",
    [
        "static int g() { return 1; }",
        "namespace { int g() { return 1; } }",
        "constexpr int g(int x) { return x; }",
        "__device__ float g(float x) { return x; }",
        "__host__ __device__ float g(float x) { return x; }",
        "struct S { int g() const { return 1; } };",
        "auto g() { return [](int x) { return x; }; }",
        "struct S { S() = default; };",
        "int g(int);",
    ],
)
def test_what_only_the_emptied_functions_use_stays(kept: str) -> None:
    assert stub_of(f"{kept}\nvoid f() {{ g(); }}") == f"{kept}\nvoid f() {{}}"
    assert stub_of(kept) is None  # nothing was emptied


@pytest.mark.parametrize(
    "text",
    [
        "int& f() { return x; }",
        "const A& f() { return x; }",
        "auto f() -> int& { return x; }",
        "A& A::operator=(const A&) { return *this; }",
        "void f() { g(); }\nvoid h( {",
        "void f() { g(); }}",
        "",
        "int x = 3;",
    ],
)
def test_no_stub_where_one_cannot_be_trusted(text: str) -> None:
    assert stub_of(text) is None


def test_python_functions_pass() -> None:
    text = '''"""Doc."""
from numba import cuda

LIMIT = 3


@cuda.jit(cache=True)
def kernel(x):
    """Ü."""
    x[0] = 1


def outer(
    x,
):
    @inner
    def nested():
        return 1

    return nested


class Solver:
    size = 1

    def run(self): return "ä", 1

if LIMIT:
    async def late(): await x
'''
    stub = stub_of(text, "solution.py")
    assert stub is not None
    module = ast.parse(stub)
    functions = [n for n in ast.walk(module) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    assert {f.name for f in functions} == {"kernel", "outer", "late", "run"}
    assert all(len(f.body) == 1 and isinstance(f.body[0], ast.Pass) for f in functions)
    assert "@cuda.jit(cache=True)\ndef kernel(x):\n    pass\n" in stub
    assert "    size = 1\n\n    def run(self): pass\n" in stub


@pytest.mark.parametrize("text", ["def f(:\n", "f = lambda x: x\n", "", "def f():\n  \0"])
def test_python_without_a_stub(text: str) -> None:
    assert stub_of(text, "solution.py") is None


def test_other_files_stay_and_one_doubtful_file_is_enough() -> None:
    def files(*pairs: tuple[str, str]) -> FileSolution:
        return FileSolution(task_id="a/1", files=[SourceFile(path=p, content=c) for p, c in pairs])

    stub = derive_stub(files(("a.cu", "void f() { g(); }"), ("data.txt", "void f() { g(); }")))
    assert stub is not None
    assert [file.content for file in stub.files] == ["void f() {}", "void f() { g(); }"]
    assert derive_stub(files(("a.cu", "void f() { g(); }"), ("b.cu", "int& h() { return x; }"))) is None


def test_every_reference_of_the_corpus_has_a_stub() -> None:
    folders = problem_folders(CORPUS)
    assert folders
    for path in folders:
        reference = load_folder(path).reference
        if isinstance(reference, FileSolution):
            assert derive_stub(reference) is not None, path.name


@pytest.mark.nvcc
def test_derived_stubs_compile(tmp_path: Path) -> None:
    if not shutil.which("nvcc"):
        pytest.skip("not run: no nvcc")
    text = """#include <vector>
enum class Status { good, bad };
struct Pair { int a; float b; };
template <class T> __global__ void fill(T* p, T x) { p[threadIdx.x] = x; }
template __global__ void fill<int>(int*, int);
Status status() { return Status::bad; }
Pair pair(int a) { return {a, 1.0f}; }
std::vector<int> list() { return {1, 2}; }
cudaError_t launch(int* p, cudaStream_t s) { fill<<<1, 32, 0, s>>>(p, 3); return cudaGetLastError(); }
"""
    stub = stub_of(text)
    assert stub is not None
    assert "cudaGetLastError" not in stub
    (tmp_path / "solution.cu").write_text(stub)
    command = ["nvcc", "-std=c++17", "-arch=sm_90", "-c", "solution.cu", "-o", "solution.o"]
    built = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
