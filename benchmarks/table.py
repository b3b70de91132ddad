"""Write the tables of docs/routing_gradient.md from the records of `benchmarks/step.py`."""

from pathlib import Path
from typing import Any

from yardsticks import PLAIN

from capsnet_tutorial.records import find_record

PAGE = Path(__file__).resolve().parent.parent / "docs" / "routing_gradient.md"
BEGIN, END = "<!-- begin: python benchmarks/table.py -->", "<!-- end -->"
RECORDS = ("step-cpu-bf16", "step-cpu-bf16-huge-pages", "step-cuda-compiled")
MIB = 2**20


def tables(record: dict[str, Any]) -> str:
    """Say where and how a record was made, and give its steps and parts as Markdown."""
    steps, parts, ours = record["steps"], record["parts"], record["ours"]
    plain = steps[PLAIN]
    where = ", ".join(
        [
            record["hardware"],
            f"torch {record['torch']}",
            f"{record['threads']} threads",
            *(f"{name}={value}" for name, value in record["variables"].items()),
        ]
    )
    lines = [
        f"`{record['command']}`: {where}, {record['data']}, medians of "
        f"{record['options']['rounds']} rounds.",
        "",
        "| Step | ms | plain autograd in float32 takes |",
        "|---|---|---|",
        *(f"| {k} | {1e3 * s:,.1f} | {plain / s:.2f} times as long |" for k, s in steps.items()),
        "",
        f"| Part of the step “{ours}” | ms |",
        "|---|---|",
        *(f"| {name} | {1e3 * seconds:,.1f} |" for name, seconds in parts.items()),
        "",
        f"That step does {record['operations'] / 1e9:,.1f} GFLOP at {record['share']:.0%} of the "
        f"{record['matrix_rate'] / 1e9:,.0f} GFLOP/s that plain matrix products reached in the "
        f"same process. Autograd keeps {record['kept_bytes'] / MIB:,.0f} MiB in it, and "
        f"{record['kept_bytes_plain'] / MIB:,.0f} MiB in the plain one. At most "
        f"{record['peak_bytes'] / MIB:,.0f} MiB were in use.",
    ]
    return "\n".join(lines)


def section() -> str:
    """Return the tables of all records that there are, between the marks."""
    found = [record for name in RECORDS if (record := find_record(name))]
    body = "\n\n".join(map(tables, found)) or "No run has been recorded yet."
    return f"{BEGIN}\n\n{body}\n\n{END}"


def page_with_tables(page: str) -> str:
    """Return the page with its section made new."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + section() + after


if __name__ == "__main__":
    PAGE.write_text(page_with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
