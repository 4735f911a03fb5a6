"""Which problems a machine cannot run, and which of its GPUs a problem may use."""

from __future__ import annotations

import pytest
from support import make_problem

from ce_eval.machine import Gpu, Machine
from ce_eval.requirements import fitting_gpus, skip_reason


def gpu(index: int, capability: str, *, datacenter: bool) -> Gpu:
    return Gpu(index, f"GPU {capability}", capability, 1 << 34, f"GPU-{index}", datacenter)


SMALL, LARGE = gpu(0, "8.6", datacenter=False), gpu(1, "9.0", datacenter=True)


def machine(*gpus: Gpu, toolkit: str | None = "13.0") -> Machine:
    reason = None if gpus else "no driver"
    return Machine(gpus=gpus, no_gpu_reason=reason, driver="580", cuda_toolkit=toolkit, nvcc="nvcc")


@pytest.mark.parametrize(
    ("needs", "has", "reason"),
    [
        ({}, machine(), None),
        ({"compute_capability": "8.0"}, machine(), "needs a GPU; this machine has none (no driver)"),
        ({"compute_capability": "8.0"}, machine(SMALL), None),
        ({"compute_capability": "9.0"}, machine(SMALL), "needs compute capability 9.0; GPU 8.6 has 8.6"),
        (
            {"compute_capability": "10.0"},
            machine(SMALL, LARGE),
            "needs compute capability 10.0; GPU 9.0 has 9.0",
        ),
        ({"requires_datacenter_gpu": True}, machine(SMALL), "needs a datacenter GPU; GPU 8.6 is none"),
        ({"requires_datacenter_gpu": True}, machine(SMALL, LARGE), None),
        ({"min_cuda_toolkit": "13.1"}, machine(SMALL), "needs CUDA toolkit 13.1; this machine has 13.0"),
        ({"min_cuda_toolkit": "12.9"}, machine(SMALL), None),
        ({"min_cuda_toolkit": "12.0"}, machine(SMALL, toolkit=None), "needs the CUDA toolkit 12.0"),
        ({"build_command": "nvcc -o a a.cu"}, machine(SMALL, toolkit=None), "needs the CUDA toolkit;"),
    ],
)
def test_why_a_problem_is_skipped(needs, has, reason):
    found = skip_reason(make_problem(**needs), has)
    assert found == reason if reason is None else (found or "").startswith(reason)


def test_a_problem_is_shown_only_the_gpus_that_fit():
    both = machine(SMALL, LARGE)
    assert fitting_gpus(make_problem(), both) == (SMALL, LARGE)
    assert fitting_gpus(make_problem(compute_capability="9.0"), both) == (LARGE,)
    assert fitting_gpus(make_problem(requires_datacenter_gpu=True), both) == (LARGE,)
