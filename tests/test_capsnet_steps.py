"""One step of learning, whatever the images and the type of number."""

import pytest
import torch

from capsnet_tutorial import CapsNet, CapsNetConfig, capsnet_loss

TINY = CapsNetConfig.small(conv_channels=8, primary_types=2, image_shape=(1, 19, 21), num_classes=4)


def network(config=TINY, seed=0):
    torch.manual_seed(seed)
    return CapsNet(config)


def images(b=3, config=TINY):
    return torch.rand(b, *config.image_shape, generator=torch.Generator().manual_seed(1))


def step(model, batch, targets=None):
    """Take one step of Adam and return the loss before it."""
    targets = torch.arange(len(batch)) % model.config.num_classes if targets is None else targets
    optimizer = torch.optim.Adam(model.parameters())
    loss = capsnet_loss(model(batch, targets), batch, targets)
    loss.total.backward()
    optimizer.step()
    return loss


def all_finite(model):
    return all(
        parameter.isfinite().all() and parameter.grad.isfinite().all()
        for parameter in model.parameters()
    )


@pytest.mark.parametrize("biases", ["random", "zero"])
@pytest.mark.parametrize("stop_gradient", [False, True])
def test_a_step_on_black_images_leaves_every_parameter_finite(biases, stop_gradient):
    model = network(CapsNetConfig(**vars(TINY) | {"stop_gradient": stop_gradient}))
    if biases == "zero":
        # Then every primary capsule is exactly zero, and so is every digit capsule.
        for layer in (model.conv, model.primary.conv):
            torch.nn.init.zeros_(layer.bias)
    black = torch.zeros(2, *TINY.image_shape)
    assert (model(black).lengths == 0).all() == (biases == "zero")
    assert step(model, black).total.isfinite()
    assert all_finite(model)


def test_a_step_on_one_image_changes_every_part_and_lowers_the_loss():
    model = network()
    before = {name: value.clone() for name, value in model.named_parameters()}
    targets = torch.tensor([2])
    loss = step(model, images(1), targets)
    assert all_finite(model)
    for name, value in model.named_parameters():
        assert not value.equal(before[name]), name
    assert capsnet_loss(model(images(1), targets), images(1), targets).total < loss.total


def test_the_same_seed_gives_the_same_network_after_the_same_step():
    first, second, other = network(seed=0), network(seed=0), network(seed=1)
    for model in (first, second, other):
        step(model, images())
    assert first.digit.weight.equal(second.digit.weight)
    assert first(images()).capsules.equal(second(images()).capsules)
    assert not first.digit.weight.equal(other.digit.weight)


def test_bfloat16_autocast_learns_with_finite_numbers_near_float32_s():
    model, targets = network(), torch.tensor([0, 1, 2])
    exact = capsnet_loss(model(images(), targets), images(), targets)
    with torch.autocast("cpu", torch.bfloat16):
        output = model(images(), targets)
        loss = capsnet_loss(output, images(), targets)
    assert output.capsules.dtype == torch.bfloat16
    assert {term.dtype for term in loss} == {torch.float32}
    torch.testing.assert_close(tuple(loss), tuple(exact), rtol=0.02, atol=0)
    loss.total.backward()
    assert all_finite(model)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_a_network_of_another_type_gives_float32_s_lengths(dtype):
    exact = network()(images()).lengths
    output = network().to(dtype)(images().to(dtype))
    assert {part.dtype for part in output} == {dtype}
    assert all(part.isfinite().all() for part in output)
    torch.testing.assert_close(output.lengths.float(), exact, rtol=0.05, atol=0.005)


@pytest.mark.slow
def test_the_paper_s_network_takes_a_step_on_a_cpu():
    model = network(CapsNetConfig())
    before = {name: value.clone() for name, value in model.named_parameters()}
    loss = step(model, images(4, CapsNetConfig()))
    assert all(term.isfinite() for term in loss)
    assert all_finite(model)
    for name, value in model.named_parameters():
        assert not value.equal(before[name]), name
