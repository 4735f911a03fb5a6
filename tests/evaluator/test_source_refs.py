"""Which names count as used in a solution: a table of cases, then properties that hold for any text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ce_eval.parsing import Language, parse
from ce_eval.source_refs import check_source_references
from ce_schema.problem import SourceReferences
from ce_schema.solution import SourceFile


def check(code: str, *names: str, path: str = "solution.cu", context: str = ""):
    language = "cuda_python" if path.endswith(".py") else "cuda_cpp"
    return check_source_references(
        [SourceFile(path=path, content=code)],
        SourceReferences(all=list(names)),
        language,
        [SourceFile(path="include/context" + path[-3:], content=context)],
    )


def body(statement: str) -> str:
    return f"void f() {{ {statement}; }}\n"


CPP_FOUND = [
    # one name, anywhere in code
    (body("cudaMalloc(&p, n)"), "cudaMalloc"),
    (body("::cudaFree(p)"), "cudaFree"),
    (body("::cudaFree(p)"), "::cudaFree"),
    (body("cudaMalloc(&p, n)"), "cudaMalloc()"),
    (body("cudaMalloc(&p, n)"), "  cudaMalloc(); "),
    (body("__syncthreads()"), "__syncthreads"),
    (body("__shared__ float tile[32]"), "__shared__"),
    ("__global__ void __launch_bounds__(256) k() {}", "__launch_bounds__"),
    ("__global__ void k() {}", "__global__"),
    (body("float4 v = *reinterpret_cast<float4*>(p)"), "float4"),
    (body("for (;;) {}"), "for"),
    (body("half2 h"), "half2"),
    ("void my_kernel();", "my_kernel"),
    ("cudaError_t cudaMalloc(void**, size_t) { return cudaSuccess; }", "cudaMalloc"),
    ("CUtensorMap é; int zähler = cudaFree(0);", "zähler"),
    # qualified names and their parts
    (body("cub::DeviceReduce::Sum(t, b, i, o, n)"), "cub::DeviceReduce::Sum"),
    (body("cub::DeviceReduce::Sum(t, b, i, o, n)"), "cub::DeviceReduce"),
    (body("cub::DeviceReduce::Sum(t, b, i, o, n)"), "DeviceReduce::Sum"),
    (body("cub::DeviceReduce::Sum(t, b, i, o, n)"), "DeviceReduce"),
    (body("cub::DeviceReduce::Sum(t, b, i, o, n)"), "Sum"),
    (body("cub::DeviceReduce::Sum(t, b, i, o, n)"), "cub"),
    (body("cub :: DeviceReduce\n  :: Sum(t)"), "cub::DeviceReduce::Sum"),
    (body("cub::/* why */DeviceReduce::Sum(t)"), "cub::DeviceReduce::Sum"),
    (body("cub::DeviceReduce::Sum(t)"), "cub :: DeviceReduce"),
    (body("nvcuda::wmma::mma_sync(d, a, b, c)"), "wmma::mma_sync"),
    (body("auto s = cuda::std::span<int>(p, n)"), "cuda::std::span"),
    (body("auto s = &Foo::~Bar"), "Foo::Bar"),
    # templates
    (body("cub::BlockScan<int, 128> scan"), "cub::BlockScan"),
    (body("cub::BlockScan<int, 128> scan"), "cub::BlockScan<int,128>"),
    (body("cub::BlockScan<int, 128>::TempStorage t"), "cub::BlockScan::TempStorage"),
    (body("cub::BlockReduce<Pair<int, 3>, 128>(t).Sum(x)"), "cub::BlockReduce::Sum"),
    (body("cub::BlockReduce<T, 128>(t).template Sum<3>(x)"), "BlockReduce::Sum"),
    (body("std::vector<thrust::pair<int, int>> v"), "thrust::pair"),
    (body("thrust::plus<int>()"), "thrust::plus"),
    (body("x = *reinterpret_cast< float4 * >(p)"), "reinterpret_cast<float4*>"),
    ("template <typename T> void f(thrust::device_vector<T>& v);", "thrust::device_vector"),
    # members
    (body("int i = threadIdx.x"), "threadIdx.x"),
    (body("int i = threadIdx.x"), "threadIdx"),
    (body("tile.sync()"), "tile.sync"),
    (body("tile->sync()"), "tile.sync"),
    (body("tile.sync()"), "sync"),
    (body("streams[i].sync()"), "streams.sync"),
    # short for something else
    ("using namespace cub;\n" + body("DeviceReduce::Sum(t)"), "cub::DeviceReduce::Sum"),
    ("using namespace cuda::std;\n" + body("span<int> s"), "cuda::std::span"),
    ("using namespace cuda::std;\n" + body("span<int> s"), "std::span"),
    ("using cub::DeviceReduce;\n" + body("DeviceReduce::Sum(t)"), "cub::DeviceReduce::Sum"),
    (
        "namespace cg = cooperative_groups;\n" + body("cg::this_grid().sync()"),
        "cooperative_groups::this_grid",
    ),
    ("namespace cg = cooperative_groups;\n" + body("cg::this_grid().sync()"), "cg::this_grid"),
    ("namespace a = nvcuda; namespace b = a::wmma;\n" + body("b::mma_sync()"), "nvcuda::wmma::mma_sync"),
    ("using namespace nvcuda;\n" + body("namespace w = wmma; w::mma_sync()"), "nvcuda::wmma::mma_sync"),
    ("using BR = cub::BlockReduce<int, 3>;\n" + body("BR(t).Sum(1)"), "cub::BlockReduce::Sum"),
    ("typedef cub::BlockReduce<int, 3> BR;\n" + body("BR(t).Sum(1)"), "cub::BlockReduce::Sum"),
    ("typedef typename cub::BlockReduce<T, 3>::TempStorage TS;\n", "cub::BlockReduce::TempStorage"),
    ("#define CG cooperative_groups\n" + body("CG::this_grid()"), "cooperative_groups::this_grid"),
    # the preprocessor
    ("#define F(p) cudaMalloc(&p, 4)\n", "cudaMalloc"),
    (
        "#define F(p) \\\n  do { \\\n  cub::DeviceReduce::Sum(p); \\\n  } while (0)\n",
        "cub::DeviceReduce::Sum",
    ),
    ('#define LOG(p) printf("http://x"), cudaFree(p)\n', "cudaFree"),
    ('#define OPEN "/*"\n' + body("cudaFree(p)") + '#define CLOSE "*/"\n', "cudaFree"),
    ("#define F(x) cub::\\\n  Foo(x)\n", "cub::Foo"),
    ("#define CUB_STDERR 1\n", "CUB_STDERR"),
    ("#ifdef CUB_STDERR\n#endif\n", "CUB_STDERR"),
    ("#if 0\n#else\n" + body("cudaFree(p)") + "#endif\n", "cudaFree"),
    ("#if 0\n#elif defined(X)\n" + body("cudaFree(p)") + "#endif\n", "cudaFree"),
    ("#if 0\n#if 1\n#endif\n#else\n" + body("cudaFree(p)") + "#endif\n", "cudaFree"),
    ("#if 0 // don't\nit's\n#endif\n" + body("cudaFree(p)"), "cudaFree"),
    ("#if 1\n" + body("cudaFree(p)") + "#endif\n", "cudaFree"),
    ("#if FAST\n" + body("cudaFree(p)") + "#else\n" + body("cudaMalloc(p)") + "#endif", "cudaMalloc"),
    ("#error don't\n" + body("cudaFree(p)"), "cudaFree"),
    ("#endif\n#else\n" + body("cudaFree(p)"), "cudaFree"),
    ("#pragma unroll 4\n", "unroll"),
    ("#  pragma unroll 4\n", "#pragma unroll"),
    (body('_Pragma("unroll 4") for (;;) {}'), "#pragma unroll"),
    ("#include <cub/cub.cuh>\n", "#include <cub/cub.cuh>"),
    ("#include <cub/cub.cuh>\n", "<cub/cub.cuh>"),
    ("#include <cub/cub.cuh> // all of it\n", "cub/cub.cuh"),
    ("#include <cub/cub.cuh>\n", "cub.cuh"),
    ('#  include "kernel.h"\n', "kernel.h"),
    ("#include <cuda/std/span>\n", "cuda/std/span"),
    # launches, attributes and other runs of tokens
    (body("k<<<1, 2>>>(p)"), "<<<"),
    (body("k <<< 1, 2 >>> (p)"), "k<<<"),
    ("__global__ void __launch_bounds__( 256 ) k() {}", "__launch_bounds__(256)"),
    (body("x += 1; y ++"), "y++"),
    # inline PTX
    (body('asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(x) : "l"(p))'), "ld.global.nc"),
    (body('asm("ld.global." "nc.f32 %0;" : "=f"(x))'), "ld.global.nc"),
    (body('asm volatile ("\\n\\tmma.sync.aligned.m16n8k16;\\n")'), "mma.sync"),
    (body('asm volatile(R"(cp.async.bulk.tensor.2d.shared::cluster;)")'), "cp.async.bulk.tensor.2d"),
    (body('asm volatile("mov.u32 %0, %%laneid;" : "=r"(i))'), "%laneid"),
    ('#define LDG(x, p) asm("ld.global.nc.f32 %0, [%1];" : "=f"(x) : "l"(p))\n', "ld.global.nc"),
    # what the grammar cannot parse
    (body("auto g = [=] __device__ (int i) { return atomicAdd(p, i); }"), "atomicAdd"),
    (body("auto g = [=] __host__ __device__ (int i) { cub::A::B(i); }"), "cub::A::B"),
    ("void f() { ((( cudaMalloc(a);\n", "cudaMalloc"),
    ("}}}} ]] cub::DeviceScan::ExclusiveSum(", "cub::DeviceScan::ExclusiveSum"),
    ("KERNEL_1D(k) { cub::A::B(1); }", "cub::A::B"),
    ("Here is the code:\n```cuda\n" + body("cudaFree(p)") + "```", "cudaFree"),
    ("\x00\x01" + body("cudaFree(p)\x00"), "cudaFree"),
    ("\ufeff#include <a/b.h>\n", "a/b.h"),
    # literals end where they end
    (body("int n = 1'000'000; cudaFree(p); char c = 'a'"), "cudaFree"),
    (body("case'\"': cudaFree(p); char c = '\"'"), "cudaFree"),
    (body('s = R"x( )" )x"; cudaFree(p); t = ""'), "cudaFree"),
    (body('s = "\\\\"; cudaFree(p); t = "\\""'), "cudaFree"),
    (body('printf("%" PRIu64"\\n", cudaFree(p))'), "cudaFree"),
    (body("a = b / *c; cudaFree(p); d = e */* x */ f"), "cudaFree"),
]

CPP_MISSING = [
    (body("cudaMallocAsync(&p, n, s)"), "cudaMalloc"),
    (body("my_cudaMalloc(&p, n)"), "cudaMalloc"),
    ("", "cudaMalloc"),
    (body("x"), ""),
    (body("x"), " ; "),
    # comments
    ("// cudaMalloc\n", "cudaMalloc"),
    ("/* cudaMalloc */\n", "cudaMalloc"),
    ("// a \\\ncudaMalloc\n", "cudaMalloc"),
    ("/* \n * cudaMalloc", "cudaMalloc"),
    ("/// cub::DeviceReduce::Sum\n", "cub::DeviceReduce::Sum"),
    ("#define X 1 // cudaMalloc\n", "cudaMalloc"),
    ('#define X /* a */ "cudaMalloc"\n', "cudaMalloc"),
    (body('asm volatile("// ld.global.nc\\n /* mma.sync */" ::: "memory")'), "ld.global"),
    (body('asm volatile("// ld.global.nc\\n /* mma.sync */" ::: "memory")'), "mma.sync"),
    # strings
    (body('const char* s = "cudaMalloc"'), "cudaMalloc"),
    (body('const char* s = "cudaMalloc"'), '"cudaMalloc"'),
    (body('s = "a\\" cudaMalloc"'), "cudaMalloc"),
    (body('s = "a \\\n cudaMalloc"'), "cudaMalloc"),
    (body('s = R"(\n" cudaMalloc\n)"'), "cudaMalloc"),
    (body('s = u8R"cudaMalloc( )cudaMalloc"'), "cudaMalloc"),
    (body('s = R"(cudaMalloc'), "cudaMalloc"),
    ('#define CHECK(x) do { if (x) /* bad */ puts("cudaMalloc failed"); } while (0)\n', "cudaMalloc"),
    (body('asm volatile("" : "=r"(x) : : "memory")'), "memory"),
    (body('asm volatile("nop;"); s = "ld.global.nc"'), "ld.global.nc"),
    (body("c = 'cudaMalloc'"), "cudaMalloc"),
    # never compiled
    ("#if 0\n" + body("cudaMalloc(p)") + "#endif\n", "cudaMalloc"),
    ("#if 0\n" + body("cudaMalloc(p)"), "cudaMalloc"),
    (" #  if (0) // off\n" + body("cudaMalloc(p)") + "#endif\n", "cudaMalloc"),
    ("#if false\n#ifdef A\n" + body("cudaMalloc(p)") + "#else\ncudaMalloc\n#endif\n#endif\n", "cudaMalloc"),
    ("#if 1\n#else\n" + body("cudaMalloc(p)") + "#endif\n", "cudaMalloc"),
    ("#if 1\n#elif X\n" + body("cudaMalloc(p)") + "#endif\n", "cudaMalloc"),
    ("#if X\n#elif 0\n" + body("cudaMalloc(p)") + "#endif\n", "cudaMalloc"),
    ("#if 0\n#include <cub/cub.cuh>\n#endif\n", "cub/cub.cuh"),
    ("#if 0\n" + body('asm("mma.sync;")') + "#endif\n", "mma.sync"),
    ("#error use cudaMalloc\n", "cudaMalloc"),
    # not next to one another
    (body("thrust::detail::sort(v)"), "thrust::sort"),
    (body("std::sort(v)"), "thrust::sort"),
    ("using namespace thrust;\n" + body("std::sort(v)"), "thrust::sort"),
    ("using thrust::reduce;\n" + body("sort(v)"), "thrust::sort"),
    (body("cub::DeviceScan::Sum(t)"), "cub::DeviceReduce::Sum"),
    (body("DeviceReduce::Sum(t)"), "cub::DeviceReduce::Sum"),
    (body("int i = threadIdx.y"), "threadIdx.x"),
    (body("wgmma.mma_async.sync"), "mma.sync"),
    (body("cub::BlockScan<float, 64> scan"), "cub::BlockScan<int, 128>"),
    (body("double x = 1.e5f"), "e5f"),
    # headers
    ("#include <cub/cub.cuh>\n", "cub"),
    ("#include <barrier>\n", "barrier"),
    ("#include <cub/device/device_reduce.cuh>\n", "cub/cub.cuh"),
    ("#include <xcub.cuh>\n", "cub.cuh"),
    ("// #include <cub/cub.cuh>\n", "cub/cub.cuh"),
    # another run of tokens
    (body("a < b"), "<<<"),
    (body("y + +"), "x++"),
    ("__global__ void __launch_bounds__(128) k() {}", "__launch_bounds__(256)"),
]

NUMBA = "from numba import cuda\n"

PYTHON_FOUND = [
    ("cuda.shared.array(3)\n", "cuda.shared.array"),
    ("cuda.shared.array(3)\n", "cuda.shared"),
    ("cuda.shared.array(3)\n", "shared.array"),
    ("cuda.shared.array(3)\n", "array"),
    ("cuda.shared.array(3)\n", "cuda.shared.array()"),
    (NUMBA + "@cuda.jit\ndef f(): pass\n", "cuda.jit"),
    (NUMBA + "@cuda.jit\ndef f(): pass\n", "@cuda.jit"),
    (NUMBA + "@cuda.jit\ndef f(): pass\n", "numba.cuda.jit"),
    (NUMBA + "@cuda.jit(device=True)\ndef f(): pass\n", "@cuda.jit(device=True)"),
    (NUMBA + "@cuda.jit(device=True)\ndef f(): pass\n", "device"),
    ("from numba import cuda as c\n@c.jit\ndef f(): pass\n", "cuda.jit"),
    ("from numba import cuda as c\n@c.jit\ndef f(): pass\n", "numba.cuda.jit"),
    ("from numba import cuda as c\n@c.jit\ndef f(): pass\n", "c.jit"),
    ("import numba.cuda as c\nc.jit(f)\n", "numba.cuda.jit"),
    ("import numba.cuda\nnumba.cuda.jit(f)\n", "numba.cuda.jit"),
    ("from numba.cuda import jit\n@jit\ndef f(): pass\n", "cuda.jit"),
    ("import cupy as cp\ncp.zeros(3)\n", "cupy.zeros"),
    ("import cupy as cp\ncp.zeros(3)\n", "cp.zeros"),
    ("import cupy as cp\nxp = cp\nxp.zeros(3)\n", "cupy.zeros"),
    ("import cupy\nzeros = cupy.zeros\n", "cupy.zeros"),
    ("from cupy import zeros as z\nz(3)\n", "cupy.zeros"),
    ("from cupy import *\nzeros(3)\n", "cupy.zeros"),
    ("try:\n    import cupy as cp\nexcept ImportError:\n    pass\ncp.zeros(1)\n", "cupy.zeros"),
    ("import cuda.tile as ct\nct.load(a)\n", "cuda.tile.load"),
    ("import cuda.tile as ct\nct.load(a)\n", "ct.load"),
    ("import torch\ntorch.cuda.synchronize()\n", "torch.cuda.synchronize"),
    ("torch.cuda.current_stream().synchronize()\n", "torch.cuda.current_stream.synchronize"),
    ("streams[0].synchronize()\n", "streams.synchronize"),
    ("x = (torch\n     .cuda\n     .synchronize())\n", "torch.cuda.synchronize"),
    ('x = f"{cuda.jit}"\n', "cuda.jit"),
    ('x = f"{cuda.jit:>{8}}" "y"\n', "cuda.jit"),
    ("with cuda.stream() as s: pass\n", "with"),
    ("x = a @ b\n", "@b"),
    ("def f(:\n  cuda.jit(\n", "cuda.jit"),
    ("x = '''\n'''; cuda.jit(f)\n", "cuda.jit"),
    ("x = 'it\\'s'; cuda.jit(f) # '\n", "cuda.jit"),
]

PYTHON_MISSING = [
    ("# cuda.jit\n", "cuda.jit"),
    ('"""cuda.jit"""\n', "cuda.jit"),
    ("x = 'cuda.jit'\n", "cuda.jit"),
    ("x = b'cuda.jit' rb'cuda.jit'\n", "jit"),
    ('x = f"cuda.jit {x}"\n', "jit"),
    ("x = 'a\\n cuda.jit \\n'\n", "jit"),
    ("def f(:\n  x = 'cuda.jit'\n  # jit\n", "jit"),
    ('getattr(cuda, "jit")\n', "jit"),
    ("import numpy as cp\ncp.zeros(3)\n", "cupy.zeros"),
    ("from numpy import zeros\nzeros(3)\n", "cupy.zeros"),
    ("cuda.jitter(3)\n", "cuda.jit"),
    ("cuda.local.jit(3)\n", "cuda.jit"),
    ("", "cuda"),
]


@pytest.mark.parametrize(("code", "name"), CPP_FOUND)
def test_cpp_names_that_count(code, name):
    assert check(code, name).ok


@pytest.mark.parametrize(("code", "name"), CPP_MISSING)
def test_cpp_names_that_do_not_count(code, name):
    assert not check(code, name).ok


@pytest.mark.parametrize(("code", "name"), PYTHON_FOUND)
def test_python_names_that_count(code, name):
    assert check(code, name, path="solution.py").ok


@pytest.mark.parametrize(("code", "name"), PYTHON_MISSING)
def test_python_names_that_do_not_count(code, name):
    assert not check(code, name, path="solution.py").ok


@pytest.mark.parametrize(
    ("references", "ok", "message"),
    [
        ({"all": [], "any": []}, True, ""),
        ("a", True, ""),
        (["a", "b", "a"], True, ""),
        ({"any": ["x", "b"]}, True, ""),
        ({"all": ["a"], "any": ["b", "x"]}, True, ""),
        ("x", False, "source references missing: all of [x]"),
        (["x", "a", "y", "x"], False, "source references missing: all of [x, y]"),
        ({"any": ["x", "y"]}, False, "source references missing: none of [x, y]"),
        ({"all": ["a"], "any": ["x"]}, False, "source references missing: none of [x]"),
        (
            {"all": ["a", "x"], "any": ["y", "z"]},
            False,
            "source references missing: all of [x]; none of [y, z]",
        ),
    ],
)
def test_all_any_and_both(references, ok, message):
    file = SourceFile(path="solution.cu", content=body("a(b)"))
    report = check_source_references([file], SourceReferences.model_validate(references), "cuda_cpp")
    assert (report.ok, report.message) == (ok, message)


def test_the_report_tells_found_from_missing():
    references = SourceReferences(all=["a", "x"], any=["y", "b", "c"])
    file = SourceFile(path="solution.cu", content=body("a(b)"))
    report = check_source_references([file], references, "cuda_cpp")
    assert report.found == ("a", "b")
    assert report.missing_all == ("x",)
    assert report.missing_any == ()


@pytest.mark.parametrize(
    ("path", "language", "read"),
    [
        ("src/a.cu", "cuda_cpp", True),
        ("a.CUH", "cuda_cpp", True),
        ("a.h", "cuda_cpp", True),
        ("a.cpp", "cuda_cpp", True),
        ("a.py", "cuda_cpp", False),
        ("CMakeLists.txt", "cuda_cpp", False),
        ("notes.md", "cuda_cpp", False),
        ("cu", "cuda_cpp", False),
        (".cu", "cuda_cpp", False),
        ("a.py", "cuda_python", True),
        ("kernels/a.cu", "cuda_python", True),
        ("a.txt", "cuda_python", False),
    ],
)
def test_only_sources_of_the_problems_language_are_read(path, language, read):
    file = SourceFile(path=path, content="cudaMalloc(1)\n")
    report = check_source_references([file], SourceReferences(all=["cudaMalloc"]), language)
    assert report.ok is read
    assert ("no source file" in report.message) is not read


def test_names_may_be_spread_over_files_and_aliases_too():
    files = [
        SourceFile(path="a.h", content="namespace cg = cooperative_groups;\n"),
        SourceFile(path="b.cu", content=body("cg::this_grid()")),
        SourceFile(path="c.cu", content=body("cudaMalloc()")),
    ]
    references = SourceReferences(all=["cooperative_groups::this_grid", "cudaMalloc"])
    assert check_source_references(files, references, "cuda_cpp").ok


def test_context_lends_its_aliases_but_not_its_names():
    context = "namespace cg = cooperative_groups;\ninline void g() { cudaMalloc(); }\n"
    assert check(body("cg::this_grid()"), "cooperative_groups::this_grid", context=context).ok
    assert not check(body("cg::this_grid()"), "cudaMalloc", context=context).ok
    python = "import cupy as cp\ncp.zeros(1)\n"
    assert check("cp.ones(1)\n", "cupy.ones", path="a.py", context=python).ok


# -- properties --------------------------------------------------------------------------------------------

NAME = "zq_name"
QUALIFIED = "zq::Outer::name"
MARK = st.sampled_from([NAME, QUALIFIED])
# Neither quotes nor what opens a comment or a directive: pieces must not change what their neighbours are.
PROSE = st.text(st.sampled_from(sorted("abR01 \t(){}[]<>;,:=+-*&|!?.~@%^éλ\x00\x7f")), max_size=30)
CPP_PIECE = st.sampled_from(
    [
        "}}",
        "(((",
        "a < b;",
        "template <typename T",
        "auto f = [=] __device__ (int i) {",
        "namespace cub {",
        '#define S /* c */ "s" // "',
        '#define U "http://x"',
        "#if 0\nit's\n#endif",
        "#ifdef A\n'x'\n#else",
        "#endif",
        "// it's \\\n still \"",
        '/* " */',
        "int n = 1'000;",
        'x = R"q( " )" )q";',
        "#error it's",
        'asm("nop; // x" : "=r"(x));',
        "k<<<1, 2>>>(",
        "'\"'",
        '"\\""',
        "using namespace a::b;",
        "using x = y;",
        "#define zq2 zq3",
    ]
)
PYTHON_PIECE = st.sampled_from(
    [
        "def f(:",
        "(((",
        "]",
        "x = 'it\\'s'",
        'y = """ \' """',
        "# it's",
        "import a.b as c",
        "if x:",
        "    pass",
        "f'{x!r:>{w}}'",
        "lambda",
        "@",
        "match x:",
        "    case [1, *_]:",
        "rb'\\\\'",
        "from x import *",
    ]
)
HIDDEN_CPP = st.sampled_from(
    [
        "// {}",
        "// \\\n{}",
        "/* {} */",
        "/* a\n{}\n*/",
        '"{}"',
        'L"\\"{}"',
        'R"({})"',
        'R"d( )" {} )d"',
        "#if 0\n{}\n#endif",
        "#if 0\n#if A\n#else\n{}\n#endif\n#endif",
        "#error {}",
        '#define Q /* c */ "{}"',
        '#define Q "//" "{}"',
        'asm("nop;" : "={}"(x));',
    ]
)
HIDDEN_PYTHON = st.sampled_from(
    ["# {}", "'{}'", 'x = """\n{}\n"""', "f'{}'", "rb'\\n{}'", "f(a='{}')", "f'{{x}}{}{{y}}'"]
)


def joined(*lines: list[str] | str) -> str:
    return "\n".join("\n".join(line) if isinstance(line, list) else line for line in lines) + "\n"


CPP_LINES = st.lists(PROSE | CPP_PIECE, max_size=6)
PYTHON_LINES = st.lists(PROSE.filter(lambda text: "\x00" not in text) | PYTHON_PIECE, max_size=6)


@given(CPP_LINES, HIDDEN_CPP, MARK, CPP_LINES)
def test_what_is_not_cpp_code_never_counts(before, wrapper, name, after):
    assert not check(joined(before, wrapper.format(name), after), name).ok


@given(CPP_LINES, MARK, CPP_LINES)
def test_a_use_in_cpp_code_always_counts(before, name, after):
    before = [line for line in before if line != "#ifdef A\n'x'\n#else"]
    assert check(joined(before, f"{name}(1);", after), name).ok


@given(PYTHON_LINES, HIDDEN_PYTHON, PYTHON_LINES)
def test_what_is_not_python_code_never_counts(before, wrapper, after):
    assert not check(joined(before, wrapper.format(NAME), after), NAME, path="a.py").ok


@given(PYTHON_LINES, PYTHON_LINES)
def test_a_use_in_python_code_always_counts(before, after):
    assert check(joined(before, "zq.outer.name(1)", after), "zq.outer.name", path="a.py").ok


ANY_TEXT = st.text(st.characters(codec=None), max_size=200) | st.text(
    st.sampled_from(sorted("aR\"'\\/*#<>(){}:.=\n _0if")), max_size=80
)


@given(ANY_TEXT, ANY_TEXT, st.sampled_from(["a.cu", "a.py"]))
def test_no_text_and_no_reference_raises(text, reference, path):
    report = check(text, reference, path=path)
    assert report.ok is (report.message == "")


@given(ANY_TEXT)
def test_blanking_keeps_offsets_and_lines(text):
    for language in Language:
        source = parse(text, language)
        assert len(source.code) == len(source.text)
        assert source.code.count(b"\n") == source.text.count(b"\n")


NESTS = {
    "parentheses": "(" * 200_000,
    "templates": "a<" * 100_000,
    "conditionals": "#if 0\n" * 60_000,
    "open conditionals": "#ifdef A\n" * 60_000,
    "raw strings": 'R"(' * 100_000,
    "quotes": '"' * 200_001,
    "comments": "/*" * 200_000,
    "splices": "\\\n" * 200_000,
    "members": "a." * 200_000,
    "calls": "f(a)" * 50_000,
    "casts": "(a)" * 100_000,
    "typedefs": "typedef a " * 60_000,
    "aliases": "".join(f"using a{i} = a{i + 1};" for i in range(20_000)),
    "namespaces": "".join(f"using namespace n{i};" for i in range(20_000)),
    "blanks": "using" + " " * 500_000,
    "asm": 'asm("' * 60_000,
    "assignments": "".join(f"a{i} = a{i + 1}\n" for i in range(20_000)),
    "indentation": "\n".join(" " * i + "if a:" for i in range(900)),
    "f-strings": "f'{" * 50_000,
    "continued names": "a\\\n" * 100_000,
    "form feeds": "\f" * 300_000,
}


@pytest.mark.parametrize("path", ["a.cu", "a.py"])
@pytest.mark.parametrize("text", NESTS.values(), ids=NESTS)
def test_text_made_to_be_slow_is_not(text, path):
    start = time.process_time()
    assert not check(text, "zq::name", "zq.name", "zq<1>", path=path).ok
    # Far more than it takes, far less than what grows faster than the text would.
    assert time.process_time() - start < 10
