"""Reading pictures from a terminal: digits, lengths and drawings, nothing overwritten."""

from pathlib import Path

from tiny_cli import picture

from capsnet_tutorial import (
    load_checkpoint,
)
from capsnet_tutorial.cli import main
from capsnet_tutorial.predicting import read_picture


def test_predict_prints_digit_and_lengths_and_never_overwrites(finished, tmp_path, capsys):
    for name, number in (("a.png", 3), ("b.png", 17)):
        picture(tmp_path / name, number)
    pictures, out = [str(tmp_path / name) for name in ("a.png", "b.png")], tmp_path / "drawn"
    model = load_checkpoint(finished / "checkpoint.pt").model
    for _ in range(2):
        assert main(["predict", str(finished), *pictures, f"--out={out}"]) == 0
        printed = capsys.readouterr().out.splitlines()
        for path, (first, second, third) in zip(pictures, (printed[:3], printed[3:]), strict=True):
            lengths = model(read_picture(path)[None]).lengths[0]
            digit = int(lengths.argmax())
            assert first == f"{path}: {digit}"
            assert f"{digit}: {lengths[digit]:.2f}" in second
            assert Path(third.removeprefix("  drawn in ")).read_bytes()[:4] == b"\x89PNG"
    assert len(list(out.iterdir())) == 4
    assert len({path.read_bytes() for path in out.iterdir()}) == 2


def test_predict_writes_into_the_run_if_nothing_else_is_said(tmp_path, capsys):
    assert main(["train", "--epochs=1", "--device=cpu", f"--out={tmp_path / 'run'}"]) == 0
    picture(tmp_path / "a.png", 0)
    assert main(["predict", str(tmp_path / "run"), str(tmp_path / "a.png")]) == 0
    [drawn] = (tmp_path / "run").glob("a-read-as-?.png")
    assert str(drawn) in capsys.readouterr().out
