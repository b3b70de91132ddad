#!/usr/bin/env bash
# Everything worth measuring on a CUDA machine, in one go: tests, step, training of the paper's model.
#
#   CAPSNET_DATA=FOLDER OUT=FOLDER bash benchmarks/gpu.sh
#
# CAPSNET_DATA holds MNIST's four files, unpacked or as .gz, in itself or in MNIST/raw. Everything
# found goes into OUT, a new folder (runs/gpu by default), as it is found: OUT/paper/record.json is
# written after each epoch. BUDGET is the time for all of it, in seconds. TINY=1 tries the script on
# a CPU, with tiny models, a few of the sample digits and one epoch.
#
# It needs Linux, Python 3.12 (PYTHON=python3) with torch, torchvision, numpy, einops, jaxtyping,
# matplotlib, tqdm, pytest and hypothesis, and no network. mlxtend is needed with TINY=1 alone.
set -uo pipefail
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-python3} OUT=${OUT:-runs/gpu} BUDGET=${BUDGET:-460} TINY=${TINY:-}
export PYTHONPATH=$PWD PYTHONUNBUFFERED=1 TQDM_DISABLE=1
[[ ! -e $OUT/paper ]] || { echo "$OUT holds a run: name another folder with OUT=" >&2; exit 1; }
mkdir -p "$OUT"
OUT=$(cd "$OUT" && pwd)
work=$(mktemp -d)
failed=()
trap 'rm -rf "$work"' EXIT

left() { echo $((BUDGET - SECONDS)); }

# step NAME SECONDS COMMAND...: run it for that long at most, and go on whatever comes of it.
step() {
    local name=$1 limit=$2
    shift 2
    if (($(left) < 10)); then
        echo "== $name left out: no time"
        failed+=("$name")
        return 1
    fi
    ((limit < $(left))) || limit=$(left)
    echo "== $name, at most $limit s, after $SECONDS s"
    timeout --signal=INT --kill-after=10 "$limit" "$@" 2>&1 | tee -a "$OUT/log.txt"
    local status=${PIPESTATUS[0]}
    ((status == 0)) || failed+=("$name ($status)")
    return "$status"
}

# bench NAME SECONDS OPTION...: time a step; results/NAME.json and OUT/NAME.json say what it took.
bench() {
    local name=$1 limit=$2
    local record=${TINY:+trial-$$-}$name
    shift 2
    step "$name" "$limit" "$PYTHON" benchmarks/step.py "${sizes[@]}" "$@" --json "$record" &&
        cp "results/$record.json" "$OUT/$name.json"
    [[ ! $TINY ]] || rm -f "results/$record.json"
}

# train NAME EPOCHS FOLDER OPTION...: train in FOLDER for that many epochs.
train() {
    local name=$1 epochs=$2 folder=$3
    shift 3
    step "$name" "$(left)" "$PYTHON" "${program[@]}" train "${training[@]}" "$@" \
        --epochs "$epochs" --out "$folder"
}

# epochs_left RESERVE: print how many epochs like the trial's fit into the time that is left.
epochs_left() {
    "$PYTHON" - "$work/trial/record.json" $(($(left) - $1)) <<'END'
import json, sys
record = json.load(open(sys.argv[1]))
print(max(1, min(50, int(0.9 * float(sys.argv[2]) * len(record["epochs"]) / record["seconds"]))))
END
}

"$PYTHON" - <<'END' || exit 1
import importlib.util, os, sys
needed = "torch torchvision numpy einops jaxtyping matplotlib tqdm pytest hypothesis".split()
tiny = bool(os.environ.get("TINY"))
missing = [name for name in needed + ["mlxtend"] * tiny if not importlib.util.find_spec(name)]
if missing:
    sys.exit(f"missing Python packages: {' '.join(missing)}")
import torch
if not torch.cuda.is_available() and not tiny:
    sys.exit("torch sees no CUDA GPU here; TINY=1 tries this script without one")
END

if [[ $TINY ]]; then
    sizes=(--device cpu --tiny --batch 2 --rounds 1)
    program=(tests/tiny_cli.py)
    training=(--data sample --preset small --device cpu)
else
    sizes=(--device cuda --batch 100 --rounds 20) # 200 steps of each kind: a round takes ten
    program=(-m capsnet_tutorial)
    training=(--data mnist --preset paper --device cuda --precision bf16)
    mkdir -p "$work/data/MNIST/raw"
    for name in {train,t10k}-{images-idx3,labels-idx1}-ubyte; do
        file=$(find -L "${CAPSNET_DATA:?name the folder of MNIST}" -name "$name*" -print -quit)
        [[ $file ]] || { echo "there is no $name in $CAPSNET_DATA" >&2; exit 1; }
        if [[ $file == *.gz ]]; then gunzip -c "$file"; else cat "$file"; fi \
            >"$work/data/MNIST/raw/$name"
    done
    export CAPSNET_DATA=$work/data
fi

step tests 90 "$PYTHON" -m pytest -o addopts= --import-mode=importlib -p no:cacheprovider \
    -q -rs -m cuda tests/test_checkpoints.py tests/test_training.py tests/test_routing_gradient.py
bench step-cuda-bf16 60 --precision bf16
bench step-cuda-fp32 60 --precision fp32
[[ $TINY ]] || bench step-cuda-compiled 150 --precision bf16 --compile

# One epoch says how many fit; compiling takes a while at first and may pay over as many.
train trial 1 "$work/trial" || exit 1
compile=$("$PYTHON" - "$OUT/step-cuda-compiled.json" 2>/dev/null <<'END'
import json, sys
record = json.load(open(sys.argv[1]))
steps = record["steps"]
print("--compile" if steps["compiled"] < steps[record["ours"]] else "--no-compile")
END
) || compile=--no-compile
epochs=$(epochs_left 60)
train paper "${TINY:-$epochs}" "$OUT/paper" "$compile" || {
    # Without the compiler, should that have been the cause.
    epochs=$(epochs_left 10)
    [[ $compile == --no-compile ]] || train "paper, not compiled" "$epochs" "$OUT/paper-plain"
}

echo "== done after $SECONDS s; in $OUT: $(ls "$OUT" | tr '\n' ' ')"
if ((${#failed[@]})); then
    printf 'failed: %s\n' "${failed[@]}" >&2
    exit 1
fi
