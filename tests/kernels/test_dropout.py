import pytest
import torch

from glcn.kernels import dropout, reference


def seeded(seed=7):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_same_bits_as_reference(dtype):
    x = torch.randn(100, 7, dtype=dtype, generator=seeded())
    seed = int(torch.randint(2**62, (), generator=seeded(8)))
    assert torch.equal(dropout(x, 0.6, seeded(8)), reference.dropout(x, 0.6, seed))


def test_rate_and_scale():
    dropped = dropout(torch.ones(200_000), 0.3, seeded())
    kept = dropped[dropped != 0]
    assert len(kept) / 200_000 == pytest.approx(0.7, abs=0.005)
    torch.testing.assert_close(kept, torch.full_like(kept, 1 / 0.7))


def test_neighbouring_positions_and_successive_calls_are_independent():
    generator = seeded()
    first, second = (dropout(torch.ones(100_000), 0.5, generator) / 2 for _ in range(2))
    assert (first * second).mean().item() == pytest.approx(0.25, abs=0.01)
    assert (first[1:] * first[:-1]).mean().item() == pytest.approx(0.25, abs=0.01)
    assert (first[256:] * first[:-256]).mean().item() == pytest.approx(0.25, abs=0.01)


def test_gradient_passes_where_the_mask_keeps():
    x = torch.ones(50, requires_grad=True)
    out = dropout(x, 0.5, seeded())
    out.sum().backward()
    assert torch.equal(x.grad, out.detach())


def test_zero_probability_is_the_identity_and_draws_nothing():
    generator, x = seeded(), torch.ones(3)
    before = generator.get_state()
    assert dropout(x, 0.0, generator) is x
    assert torch.equal(generator.get_state(), before)


@pytest.mark.parametrize("probability", [-0.1, 1.0])
def test_bad_probability(probability):
    with pytest.raises(ValueError, match=r"dropout must lie in \[0, 1\)"):
        dropout(torch.ones(3), probability)
