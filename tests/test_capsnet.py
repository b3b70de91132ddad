"""The whole network: its sizes, what reaches what, its loss, and one step of learning."""

import re
import subprocess
import sys

import pytest
import torch

from capsnet_tutorial import (
    CapsNet,
    CapsNetConfig,
    capsnet_loss,
    margin_loss,
    mask_capsules,
    reconstruction_loss,
    sample_digits,
    squash,
)

TINY = CapsNetConfig.small(conv_channels=8, primary_types=2, image_shape=(1, 19, 21), num_classes=4)


def network(config=TINY, seed=0):
    torch.manual_seed(seed)
    return CapsNet(config).eval()


def images(b=3, config=TINY):
    return torch.rand(b, *config.image_shape, generator=torch.Generator().manual_seed(1))


def parameters(module):
    return sum(parameter.numel() for parameter in module.parameters())


def test_the_paper_s_network_has_the_paper_s_parameters():
    model = CapsNet()
    assert parameters(model.conv) == 256 * (1 * 9 * 9 + 1) == 20_992
    assert parameters(model.primary) == 32 * 8 * (256 * 9 * 9 + 1) == 5_308_672
    assert parameters(model.digit) == 32 * 6 * 6 * 10 * 8 * 16 == 1_474_560
    decoder = (160 + 1) * 512 + (512 + 1) * 1024 + (1024 + 1) * 784
    assert parameters(model.decoder) == decoder == 1_411_344
    assert parameters(model) == 8_215_568
    assert parameters(CapsNet(CapsNetConfig(reconstruction=False))) == 6_804_224


@pytest.mark.parametrize(
    ("image_shape", "grid_shape", "num_primary"),
    [
        ((1, 28, 28), (6, 6), 1152),
        ((3, 32, 32), (8, 8), 2048),
        ((1, 36, 36), (10, 10), 3200),
        ((1, 17, 17), (1, 1), 32),
        ((1, 18, 18), (1, 1), 32),
        ((2, 17, 24), (1, 4), 128),
    ],
)
def test_other_images_give_other_grids(image_shape, grid_shape, num_primary):
    config = CapsNetConfig(image_shape, conv_channels=2)
    assert (config.grid_shape, config.num_primary) == (grid_shape, num_primary)
    output = network(config)(images(2, config))
    assert output.capsules.shape == (2, 10, 16)
    assert output.lengths.shape == (2, 10)
    assert output.reconstruction.shape == (2, *image_shape)


@pytest.mark.parametrize("image_shape", [(1, 16, 16), (1, 28, 16), (1, 16, 28), (1, 1, 1)])
def test_images_too_small_are_refused_at_construction_with_the_smallest_size(image_shape):
    _, height, width = image_shape
    with pytest.raises(ValueError, match=f"at least 17×17 pixels, got {height}×{width}"):
        CapsNetConfig(image_shape)


@pytest.mark.parametrize(
    "name",
    ["num_classes", "conv_channels", "primary_types", "primary_dim", "digit_dim", "num_iterations"],
)
def test_sizes_below_one_are_refused_by_name(name):
    with pytest.raises(ValueError, match=f"{name} must be a whole number of at least 1, got 0"):
        CapsNetConfig(**{name: 0})


def test_a_truth_value_is_no_size():
    with pytest.raises(ValueError, match=r"num_classes must be a whole number .*, got True"):
        CapsNetConfig(num_classes=True)


@pytest.mark.slow
def test_sizes_that_are_no_whole_numbers_are_refused_by_name():
    # In a process of its own, where no type checker speaks first.
    code = "from capsnet_tutorial import CapsNetConfig as C; C(num_classes=2.5)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "num_classes must be a whole number of at least 1, got 2.5" in ended.stderr
    code = "from capsnet_tutorial import CapsNetConfig as C; C(image_shape=(1, 28.0, '28'))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "height of image_shape must be a whole number of at least 1, got 28.0" in ended.stderr


def test_an_image_shape_read_from_json_is_as_good_as_a_tuple():
    assert CapsNetConfig(image_shape=[1, 28, 28]) == CapsNetConfig()
    model = CapsNet(CapsNetConfig.small(image_shape=[1, 17, 17]))
    assert model(torch.zeros(1, 1, 17, 17)).lengths.shape == (1, 10)


def test_capsules_of_another_network_are_refused():
    model = CapsNet(CapsNetConfig.small())
    with pytest.raises(ValueError, match=r"\(batch, 10, 16\), got \(2, 5, 16\)"):
        model.decode(torch.zeros(2, 5, 16))


@pytest.mark.parametrize(
    ("image_shape", "cause"), [((0, 28, 28), "channels"), ((28, 28), "channels, height, width")]
)
def test_impossible_image_shapes_are_refused(image_shape, cause):
    with pytest.raises(ValueError, match=cause):
        CapsNetConfig(image_shape)


@pytest.mark.parametrize("shape", [(2, 1, 32, 32), (2, 3, 19, 21), (1, 19, 21), (2, 1, 21, 19)])
def test_other_batches_are_refused_with_both_shapes(shape):
    both = f"(batch, 1, 19, 21), got {shape}"
    with pytest.raises(ValueError, match=re.escape(both)):
        network()(torch.zeros(shape))


def test_bytes_are_refused_with_the_cure():
    with pytest.raises(TypeError, match=r"got torch\.uint8: use / 255"):
        network()(torch.zeros(2, 1, 19, 21, dtype=torch.uint8))


def test_the_parts_are_joined_as_in_the_paper_s_figures():
    model = network()
    output = model(images())
    features = torch.relu(model.conv(images()))
    capsules = model.digit(model.primary(features))
    assert output.capsules.equal(capsules)
    torch.testing.assert_close(output.lengths, capsules.norm(dim=2))
    assert output.reconstruction.equal(model.decoder(mask_capsules(capsules)))


def test_the_configuration_reaches_the_layers():
    once = network(CapsNetConfig(**vars(TINY) | {"num_iterations": 1}))
    u_hat = once.digit.predict(once.primary(torch.relu(once.conv(images()))))
    torch.testing.assert_close(once(images()).capsules, squash(u_hat.sum(dim=1) / 4))
    assert not torch.allclose(once(images()).capsules, network()(images()).capsules)
    assert CapsNet(CapsNetConfig(**vars(TINY) | {"stop_gradient": True})).digit.stop_gradient
    assert CapsNet().config == CapsNetConfig()


def test_labels_decide_what_is_drawn_and_nothing_else():
    model = network()
    labels = torch.tensor([3, 0, 1])
    with_labels, without = model(images(), labels), model(images())
    assert with_labels.capsules.equal(without.capsules)
    assert not with_labels.reconstruction.equal(without.reconstruction)
    longest = without.lengths.argmax(dim=1)
    assert model(images(), longest).reconstruction.equal(without.reconstruction)


def test_two_digits_of_one_image_are_drawn_each_from_its_own_capsule():
    model = network()
    capsules = model(images()).capsules
    first, second = torch.tensor([0, 1, 2]), torch.tensor([3, 3, 3])
    drawn = model.decode(capsules, first)
    assert drawn.equal(model(images(), first).reconstruction)
    assert not drawn.equal(model.decode(capsules, second))
    capsules = capsules.clone()
    capsules[:, 3] = 7.0
    assert drawn.equal(model.decode(capsules, first))


def test_a_network_without_decoder_draws_nothing_and_pays_the_margin_alone():
    model = network(CapsNetConfig(**vars(TINY) | {"reconstruction": False}))
    output, targets = model(images()), torch.tensor([0, 1, 2])
    assert output.reconstruction is None
    with pytest.raises(ValueError, match="no decoder: build it with reconstruction=True"):
        model.decode(output.capsules)
    loss = capsnet_loss(output, images(), targets)
    assert loss.total == loss.margin == margin_loss(output.capsules, targets)
    assert loss.reconstruction == 0


def test_the_loss_is_the_margin_plus_the_weighted_reconstruction():
    targets = torch.tensor([0, 1, 2])
    output = network()(images(), targets)
    loss = capsnet_loss(output, images(), targets)
    assert loss.margin == margin_loss(output.capsules, targets)
    assert loss.reconstruction == reconstruction_loss(output.reconstruction, images())
    total = loss.margin.item() + 0.0005 * loss.reconstruction.item()
    assert loss.total.item() == pytest.approx(total)


@pytest.mark.parametrize("b", [1, 5])
def test_an_image_s_result_does_not_depend_on_its_batch(b):
    model, batch = network(), images(b)
    whole = model(batch)
    for k in range(b):
        alone = model(batch[k : k + 1])
        for part, single in zip(whole, alone, strict=True):
            torch.testing.assert_close(part[k : k + 1], single, rtol=1e-5, atol=1e-5)
    order = torch.arange(b).flip(0)
    for part, turned in zip(whole, model(batch[order]), strict=True):
        torch.testing.assert_close(turned, part[order], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("size", ["paper", "small"])
def test_first_capsules_of_real_digits_are_neither_dead_nor_saturated(size):
    model = network(CapsNetConfig() if size == "paper" else CapsNetConfig.small())
    train, _ = sample_digits()
    with torch.no_grad():
        mean = model(train.images[::80]).lengths.mean().item()
    assert 0.01 < mean < 0.5
