"""The unbiased estimator of pass@k (Chen et al. 2021, "Evaluating Large Language Models Trained on Code")."""

from __future__ import annotations


def pass_at_k(samples: int, correct: int, k: int) -> float:
    """Probability that at least one of ``k`` samples, drawn without replacement, is correct.

    ``1 - C(n - c, k) / C(n, k)`` for n samples of which c are correct, as a product of k factors, which
    neither overflows nor cancels.

    Raises:
        ValueError: ``k`` is not between 1 and ``samples``, or ``correct`` not between 0 and ``samples``.
    """
    if not 1 <= k <= samples:
        raise ValueError(f"k = {k} is not between 1 and the {samples} samples")
    if not 0 <= correct <= samples:
        raise ValueError(f"{correct} of {samples} samples cannot be correct")
    if samples - correct < k:
        return 1.0
    all_wrong = 1.0
    for drawn in range(k):
        all_wrong *= (samples - correct - drawn) / (samples - drawn)
    return 1.0 - all_wrong
