"""The named forms of the network: what each of them changes."""

from dataclasses import dataclass

from glcn.nn.graph_learning import Similarity
from glcn.nn.loss import Reduction, Smoothness


@dataclass(frozen=True)
class Variant:
    """One form of the network and its loss, with the weights of its graph loss where the caller names none."""

    similarity: Similarity
    joint: bool  # False: P and a learn from the graph loss, the W from the cross-entropy
    label_reduction: Reduction
    graph_reduction: Reduction
    smoothness: Smoothness
    relative: bool  # True: smoothness is measured in units of the untrained network's squared edge length
    sparsity_sign: int  # of γ‖S‖²_F
    weighted: bool  # False: the weights of a given graph are ignored
    graph_weight: float  # λ
    sparsity_weight: float  # γ


VARIANTS: dict[str, Variant] = {
    # The text of the paper. It names neither λ nor γ; λ = 0.01 is the best of its Table 4.
    "paper": Variant("paper", True, "sum", "sum", "pairwise", False, +1, True, graph_weight=0.01, sparsity_weight=0.01),
    # The code that the authors released: λ 0.01 and γ 1e-4 there, where γ stands outside of λ.
    "released": Variant(
        "paper", False, "mean", "sum", "trace", False, -1, False, graph_weight=0.01, sparsity_weight=0.01
    ),
    # The score's sign turned, so that near rows get more weight; means in place of sums.
    "closeness": Variant(
        "closeness", True, "mean", "mean", "pairwise", True, +1, True, graph_weight=0.02, sparsity_weight=0.2
    ),
}
