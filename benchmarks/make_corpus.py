"""Writes a corpus of N distinct, valid problems of realistic size, for measurements.

    python benchmarks/make_corpus.py FOLDER [N]

Each problem asks for another chain of element-wise steps, drawn from its number alone, with prompt,
header, test (on the shipped harness) and reference solution; all build with nvcc and pass on a GPU.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from pathlib import Path

import ce_eval

HARNESS = Path(ce_eval.__file__).with_name("harness") / "ce_harness.hpp"
BUILD = (
    "nvcc -std=c++17 -O3 -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 "
    "-I include -o test.out solution.cu test/*.cu"
)


@dataclass(frozen=True)
class Step:
    """One step of a chain: in words, and as C++ over a variable ``v`` of type T."""

    words: str
    code: str


def make_corpus(root: Path, count: int) -> None:
    """Write ``count`` problems below ``root``, with a corpus.yaml."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "corpus.yaml").write_text("name: generated\n")
    harness = HARNESS.read_text()
    for number in range(1, count + 1):
        _write_problem(root / "problems" / "cuda-kernels" / f"cuda-kernels-{number}", number, harness)


def _write_problem(folder: Path, number: int, harness: str) -> None:
    rng = random.Random(number)
    steps = [_step(rng) for _ in range(rng.randint(12, 24))]
    name = f"chain_{number}"
    files = {
        "problem-spec.yaml": _spec(name, number, steps, rng),
        f"context/include/{name}.h": _header(name, steps),
        "solution/solution.cu": _solution(name, steps),
        "test/test/test_main.cu": _test(name, steps, rng),
        "test/test/ce_harness.hpp": harness,
    }
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


def _step(rng: random.Random) -> Step:
    c = round(rng.uniform(0.25, 2.0), 3)
    return rng.choice(
        [
            Step(f"add {c}", f"v += T({c});"),
            Step(f"subtract {c}", f"v -= T({c});"),
            Step(f"multiply by {c}", f"v *= T({c});"),
            Step(f"take the larger of the value and -{c}", f"v = v < T(-{c}) ? T(-{c}) : v;"),
            Step(f"take the smaller of the value and {c * 8}", f"v = v > T({c * 8}) ? T({c * 8}) : v;"),
            Step("take the magnitude", "v = v < T(0) ? -v : v;"),
            Step("change the sign", "v = -v;"),
            Step(f"divide by {c} plus the magnitude", f"v /= T({c}) + (v < T(0) ? -v : v);"),
        ]
    )


def _numbered(steps: list[Step], indent: str) -> str:
    return "\n".join(f"{indent}{n}. {step.words};" for n, step in enumerate(steps, 1))


def _spec(name: str, number: int, steps: list[Step], rng: random.Random) -> str:
    tags = rng.sample(["element-wise", "grid-stride", "streams", "numerics", "fusion", "registers"], 3)
    return f"""\
task_id: "cuda-kernels/{number}"
date: "2026-{rng.randint(1, 9):02}-{rng.randint(1, 28):02}"
problem_type: cuda_cpp
group: cuda-kernels
prompt: |
  Write `solution.cu`, which implements the function `{name}` declared in `include/{name}.h` with a
  kernel of your own.

  The call maps every element of `in` to the element of `out` at the same place by {len(steps)} steps,
  in this order:

{_numbered(steps, "  ")}

  - `in` and `out` point to `n` floats each in device memory, 0 <= n < 2^31; n is a multiple of nothing.
  - The two do not overlap. `in` must not be written, nor anything outside `out`, whose contents before
    the call are arbitrary.
  - All work is enqueued in `stream`; the call does not wait for it and leaves no CUDA error behind.
  - Results may differ from exact arithmetic by 1e-3 times the larger of 1 and their magnitude.
  - The steps are to be done in one pass over the data: memory bandwidth decides how fast the kernel can be.
build_command: "{BUILD}"
test_command: "./test.out"
benchmark_command: "./test.out --bench"
timing_mode:
  type: region
  include: ["{name}"]
timeout_seconds: 60.0
min_cuda_toolkit: "12.0"
compute_capability: "8.0"
source_references:
  all: ["__global__"]
metadata:
  difficulty: {rng.choice(["easy", "medium", "hard"])}
  tags: [{", ".join(tags)}]
  releases: ["2026-1", "2026-2"]
  do_not_release: false
"""


def _header(name: str, steps: list[Step]) -> str:
    return f"""\
#pragma once

#include <cuda_runtime.h>

// Maps each element of `in` by {len(steps)} steps, with a __global__ function:
{_numbered(steps, "//   ")}
//
// in      device, n floats
// out     device, output, n floats
// stream  takes all work; the call does not wait for it
void {name}(const float* in, float* out, int n, cudaStream_t stream);
"""


def _functions(steps: list[Step], qualifier: str) -> str:
    parts = []
    for n, step in enumerate(steps, 1):
        parts.append(
            f"// Step {n}: {step.words}.\ntemplate <typename T>\n{qualifier} T step_{n}(T v) {{\n"
            f"  {step.code}\n  return v;\n}}\n"
        )
    calls = "\n".join(f"  v = step_{n}(v);" for n in range(1, len(steps) + 1))
    parts.append(f"template <typename T>\n{qualifier} T all_steps(T v) {{\n{calls}\n  return v;\n}}\n")
    return "\n".join(parts)


def _solution(name: str, steps: list[Step]) -> str:
    return f"""\
#include "{name}.h"

#include <cstddef>

namespace {{

constexpr int kThreads = 256;
constexpr int kMaxBlocks = 4096;

{_functions(steps, "__device__ __forceinline__")}
__global__ void {name}_kernel(const float* __restrict__ in, float* __restrict__ out, int n) {{
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {{
    out[i] = all_steps(in[i]);
  }}
}}

}}  // namespace

void {name}(const float* in, float* out, int n, cudaStream_t stream) {{
  if (n == 0) return;
  const int blocks = (n + kThreads - 1) / kThreads;
  {name}_kernel<<<blocks < kMaxBlocks ? blocks : kMaxBlocks, kThreads, 0, stream>>>(in, out, n);
}}
"""


def _test(name: str, steps: list[Step], rng: random.Random) -> str:
    sizes = sorted(rng.sample(range(2, 5000), 24))
    cases = "\n".join(
        f"CE_TEST(elements_{size}) {{\n  ce::Rng rng;\n"
        f"  check(rng.uniform_vector<float>({size}, -{1 + size % 7}, {1 + size % 5}));\n}}\n"
        for size in [0, 1, *sizes]
    )
    return f"""\
// Hidden test of {name}.
#include "ce_harness.hpp"
#include "{name}.h"

namespace {{

{_functions(steps, "inline")}
std::vector<double> oracle(const std::vector<float>& in) {{
  std::vector<double> want(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) want[i] = all_steps(static_cast<double>(in[i]));
  return want;
}}

void check(const std::vector<float>& in) {{
  CE_SCOPE("n = %zu", in.size());
  const ce::DeviceBuffer<float> d_in(in);
  ce::DeviceBuffer<float> d_out(in.size());
  CE_CALL({name}(d_in.data(), d_out.data(), static_cast<int>(in.size()), nullptr));
  ce::expect_close(d_out.download(), oracle(in), {{1e-3, 1e-3}}, "out");
  d_out.check_guards("out");
  ce::expect_unchanged(d_in, in, "in");
}}

}}  // namespace

{cases}
CE_BENCH(many_elements) {{
  constexpr int kIterations = 10;
  const int n = 1 << 24;
  ce::Rng rng;
  const auto in = rng.uniform_vector<float>(n + kIterations, -4, 4);
  const ce::DeviceBuffer<float> d_in(in);
  std::vector<ce::DeviceBuffer<float>> d_out;
  for (int i = 0; i <= kIterations; ++i) d_out.emplace_back(n);
  ce::timed("{name}", kIterations, [&](int i) {{
    CE_CALL({name}(d_in.data() + i, d_out[i].data(), n, nullptr));
  }});
  const std::vector<double> want = oracle(in);
  for (int i = 0; i <= kIterations; ++i) {{
    ce::expect_close(d_out[i].download(), {{want.begin() + i, want.begin() + i + n}}, {{1e-3, 1e-3}}, "out");
  }}
}}

int main(int argc, char** argv) {{ return ce::run(argc, argv); }}
"""


def main() -> int:
    """Command line."""
    if not 2 <= len(sys.argv) <= 3:
        print(__doc__, file=sys.stderr)
        return 2
    make_corpus(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 500)
    return 0


if __name__ == "__main__":
    sys.exit(main())
