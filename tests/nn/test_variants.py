from glcn.nn import VARIANTS


def test_what_each_variant_is():
    """The table of docs/theory.md."""
    paper, released, closeness = (VARIANTS[name] for name in ("paper", "released", "closeness"))
    assert [each.similarity for each in (paper, released, closeness)] == ["paper", "paper", "closeness"]
    assert [each.joint for each in (paper, released, closeness)] == [True, False, True]
    assert [each.label_reduction for each in (paper, released, closeness)] == ["sum", "mean", "mean"]
    assert [each.graph_reduction for each in (paper, released, closeness)] == ["sum", "sum", "mean"]
    assert [each.smoothness for each in (paper, released, closeness)] == ["pairwise", "trace", "pairwise"]
    assert [each.sparsity_sign for each in (paper, released, closeness)] == [1, -1, 1]
    assert [each.weighted for each in (paper, released, closeness)] == [True, False, True]
    assert [each.relative for each in (paper, released, closeness)] == [False, False, True]
