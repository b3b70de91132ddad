"""Checkpoints: complete, loadable anywhere, and never half written."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from capsnet_tutorial import CapsNet, CapsNetConfig, load_checkpoint, save_checkpoint

CONFIG = CapsNetConfig.small(conv_channels=4, primary_types=2, image_shape=(1, 17, 19))


@pytest.fixture
def model():
    torch.manual_seed(0)
    return CapsNet(CONFIG).eval()


def test_a_loaded_network_is_the_saved_one(model, tmp_path):
    save_checkpoint(tmp_path / "a.pt", model, epoch=3, losses=[0.5, 0.25])
    loaded, extra = load_checkpoint(tmp_path / "a.pt")
    images = torch.rand(2, 1, 17, 19)
    assert loaded.config == CONFIG
    assert loaded(images).reconstruction.equal(model(images).reconstruction)
    assert not loaded.training
    assert extra == {"epoch": 3, "losses": [0.5, 0.25]}


@pytest.mark.slow
def test_a_new_process_computes_the_same_lengths(model, tmp_path):
    save_checkpoint(tmp_path / "a.pt", model)
    code = (
        "import sys, torch; from capsnet_tutorial import load_checkpoint;"
        "model = load_checkpoint(sys.argv[1]).model;"
        "print(model(torch.full((1, 1, 17, 19), 0.5)).lengths.tolist())"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "a.pt")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.strip() == str(model(torch.full((1, 1, 17, 19), 0.5)).lengths.tolist())


def test_the_file_holds_no_code(model, tmp_path):
    save_checkpoint(tmp_path / "a.pt", model)
    assert torch.serialization.get_unsafe_globals_in_checkpoint(tmp_path / "a.pt") == []


@pytest.mark.parametrize("size", [0, 100, 10_000])
def test_a_truncated_file_is_named(model, tmp_path, size):
    path = tmp_path / "a.pt"
    save_checkpoint(path, model)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ValueError, match=r"a\.pt is damaged or no checkpoint"):
        load_checkpoint(path)


def test_a_foreign_file_is_named(tmp_path):
    torch.save({"weights": torch.zeros(2)}, tmp_path / "foreign.pt")
    (tmp_path / "text.pt").write_text("hello")
    with pytest.raises(ValueError, match=r"foreign\.pt was not written by save_checkpoint"):
        load_checkpoint(tmp_path / "foreign.pt")
    with pytest.raises(ValueError, match=r"text\.pt is damaged or no checkpoint"):
        load_checkpoint(tmp_path / "text.pt")


def test_a_file_that_could_run_code_is_refused(model, tmp_path):
    torch.save(model, tmp_path / "whole.pt")
    with pytest.raises(ValueError, match=r"whole\.pt is no checkpoint: it holds more than tensors"):
        load_checkpoint(tmp_path / "whole.pt")


def test_another_format_is_refused(model, tmp_path):
    path = tmp_path / "a.pt"
    save_checkpoint(path, model)
    torch.save(torch.load(path) | {"format": "capsnet-tutorial checkpoint 2"}, path)
    with pytest.raises(ValueError, match="expected 'capsnet-tutorial checkpoint 1' in it"):
        load_checkpoint(path)


def test_weights_of_another_shape_are_named(model, tmp_path):
    path = tmp_path / "a.pt"
    save_checkpoint(path, model)
    content = torch.load(path)
    content["weights"].pop("conv.bias")
    torch.save(content, path)
    with pytest.raises(ValueError, match=r"a\.pt is damaged"):
        load_checkpoint(path)


@pytest.mark.parametrize("place", [0.2, 0.5, 0.9])
def test_one_changed_byte_is_noticed(model, tmp_path, place):
    path = tmp_path / "a.pt"
    save_checkpoint(path, model)
    content = bytearray(path.read_bytes())
    content[int(len(content) * place)] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"a\.pt is damaged"):
        load_checkpoint(path)


def test_a_device_that_is_not_there_is_not_called_damage(model, tmp_path):
    save_checkpoint(tmp_path / "a.pt", model)
    with pytest.raises(RuntimeError, match=r"(?i)device|backend"):
        load_checkpoint(tmp_path / "a.pt", "nowhere")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_named_with_the_cure(model, tmp_path, value):
    with torch.no_grad():
        model.decoder.layers[1].bias[0] = value
    save_checkpoint(tmp_path / "a.pt", model)
    with pytest.raises(ValueError, match=r"a\.pt holds weights that are no .* lower learning rate"):
        load_checkpoint(tmp_path / "a.pt")


def test_values_beside_the_network_that_are_no_dict_are_damage(model, tmp_path):
    save_checkpoint(tmp_path / "a.pt", model)
    torch.save(torch.load(tmp_path / "a.pt") | {"extra": None}, tmp_path / "a.pt")
    with pytest.raises(ValueError, match="damaged: 'NoneType' object"):
        load_checkpoint(tmp_path / "a.pt")


def test_a_missing_part_is_named(model, tmp_path):
    path = tmp_path / "a.pt"
    save_checkpoint(path, model)
    content = torch.load(path)
    del content["extra"]
    torch.save(content, path)
    with pytest.raises(ValueError, match="damaged: 'extra'"):
        load_checkpoint(path)


def test_a_missing_file_or_folder_is_named(model, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no checkpoint at"):
        load_checkpoint(tmp_path / "a.pt")
    with pytest.raises(FileNotFoundError, match="make it first"):
        save_checkpoint(tmp_path / "missing" / "a.pt", model)


def test_a_failed_write_keeps_the_old_file_and_leaves_no_other(model, tmp_path, monkeypatch):
    path = tmp_path / "a.pt"
    save_checkpoint(path, model, epoch=1)

    def half_written(partial, content):
        with partial.open("wb") as file:
            file.write(content[:100])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", half_written)
    said = r"a\.pt could not be written \(No space left on device\): make room there"
    with pytest.raises(OSError, match=said):
        save_checkpoint(path, model, epoch=2)
    assert [file.name for file in tmp_path.iterdir()] == ["a.pt"]
    assert load_checkpoint(path).extra == {"epoch": 1}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_a_full_disk_is_named(model, tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "with_name", lambda path, name: tmp_path / "partial")
    (tmp_path / "partial").symlink_to("/dev/full")
    with pytest.raises(OSError, match=r"a\.pt could not be written \(No space") as caught:
        save_checkpoint(tmp_path / "a.pt", model)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_what_could_not_be_loaded_is_not_saved(model, tmp_path):
    path = tmp_path / "a.pt"
    save_checkpoint(path, model, epoch=1)
    with pytest.raises(TypeError, match=r"found capsnet_tutorial\.config\.CapsNetConfig"):
        save_checkpoint(path, model, config=model.config)
    assert [file.name for file in tmp_path.iterdir()] == ["a.pt"]
    assert load_checkpoint(path).extra == {"epoch": 1}


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="saves from a CUDA device")
def test_a_cpu_loads_what_cuda_saved(model, tmp_path):
    save_checkpoint(tmp_path / "a.pt", model.cuda(), noise=torch.zeros(2, device="cuda"))
    loaded, extra = load_checkpoint(tmp_path / "a.pt")
    assert next(loaded.parameters()).device.type == extra["noise"].device.type == "cpu"


def test_what_cannot_be_pickled_is_named_and_nothing_is_written(tmp_path):
    with pytest.raises(TypeError, match="a checkpoint keeps tensors and plain values"):
        save_checkpoint(tmp_path / "a.pt", CapsNet(CapsNetConfig.small()), x=lambda: 0)
    assert not list(tmp_path.iterdir())
