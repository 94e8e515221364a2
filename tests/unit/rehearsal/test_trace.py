"""Traces of jobs: what is read, and which mistakes are found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tpuplane.tpu import Slice
from tpuplane_twin.rehearsal.generator import Pattern, generate, team_and_shape
from tpuplane_twin.rehearsal.trace import InvalidTrace, TraceJob, read_trace

pytestmark = pytest.mark.unit

REPOSITORY = Path(__file__).resolve().parents[3]
HEADER = "team,shape,slices,minutes,priority,at"
NAMES = "allowed: 1 to 40 of a-z, 0-9 and -, without - at either end"
TIMES = "allowed: seconds, or a number with s, m, h or d, such as 15m"
MIX = [team_and_shape("research=v6e-4x4"), team_and_shape("product=v6e-2x2")]


def test_jobs_are_in_the_order_of_their_arrival() -> None:
    text = f"""# A trace

{HEADER},name,checkpoint
research,v6e 4x4,2,90,high,1.5h,trainer,15m
 product , tpu-v6e-slice-2x2 , 1 , 2.5 , , 30 , ,
product,v6e-2x2,1,1,,30,,
"""
    assert read_trace(text) == [
        TraceJob("product-1", "product", Slice.of("v6e", "2x2"), 1, 150.0, "", 30.0, None),
        TraceJob("product-2", "product", Slice.of("v6e", "2x2"), 1, 60.0, "", 30.0, None),
        TraceJob("trainer", "research", Slice.of("v6e", "4x4"), 2, 5400.0, "high", 5400.0, 900.0),
    ]
    assert [job.chips for job in read_trace(text)] == [4, 4, 32]


def test_a_shape_may_have_a_machine_type() -> None:
    mix = [("a", Slice.of("v6e", "2x4", "ct6e-standard-8t"))]
    assert {job.shape for job in read_trace(generate(1, 2, 9, mix))} == {mix[0][1]}
    assert "a,v6e 2x4 ct6e-standard-8t,1," in generate(1, 2, 9, mix)
    assert team_and_shape("a=v6e 2x4 ct6e-standard-8t") == mix[0]
    assert mix[0][1] != Slice.of("v6e", "2x4")


def test_columns_are_in_any_order_and_spreadsheets_may_write_a_byte_order_mark() -> None:
    (job,) = read_trace('\ufeffat,priority,minutes,slices,shape,team\r\n1d,,"10",1,v5p 2x2x4,"a"\r\n')
    assert (job.at, job.seconds, str(job.shape), job.name) == (86400, 600, "v5p 2x2x4", "a-1")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            "a,v5e 2x2,2,10,,0",
            "line 2: slices: 2 slices of v5e 2x2 cannot be joined; allowed: 1, or a multi-host topology of a "
            "generation with multislice",
        ),
        ("a,v6e 4x4,1,10,", "line 2: 5 values for 6 columns"),
        ("a,v6e 4x4,1,10,,0,,", "line 2: 8 values for 6 columns"),
        ("A,v6e 4x4,1,10,,0", f"line 2, column team: 'A' is wrong; {NAMES}"),
        (",v6e 4x4,1,10,,0", f"line 2, column team: '' is wrong; {NAMES}"),
        ("a,v6e 4x4,1,10,High!,0", f"line 2, column priority: 'High!' is wrong; {NAMES}, or nothing"),
        (
            "a,v6e 4x5,1,10,,0",
            "line 2, column shape: '4x5' is not a v6e topology; "
            "allowed: 1x1, 2x2, 2x4, 4x4, 4x8, 8x8, 8x16, 16x16; nearest: 4x4, 4x8",
        ),
        (
            "a,v6f 4x4,1,10,,0",
            "line 2, column shape: 'v6f' is not a TPU generation; "
            "allowed: v3-device, v3, v4, v5e-device, v5e, v5p, v6e, tpu7x; nearest: v6e",
        ),
        ("a,v6e,1,10,,0", "line 2, column shape: 'v6e' is not a shape; write generation and topology, such as v6e 4x4"),
        (
            "a,v6e 4x4 ct6e-standard-8t,1,10,,0",
            "line 2, column shape: 'ct6e-standard-8t' supports only v6e 2x4, not 4x4; "
            "allowed: ct6e-standard-4t; nearest: ct6e-standard-4t",
        ),
        *(
            (
                f"a,v6e 4x4,{wrong},10,,0",
                f"line 2, column slices: '{wrong}' is wrong; allowed: whole numbers from 1 to 9999",
            )
            for wrong in ("", "0", "1.0", "-1", "10000", "\N{ARABIC-INDIC DIGIT ONE}")
        ),
        *(
            (
                f"a,v6e 4x4,1,{wrong},,0",
                f"line 2, column minutes: '{wrong}' is wrong; allowed: numbers above 0, such as 90 or 2.5",
            )
            for wrong in ("", "0", "0.0", "-1", "nan", "inf", "1e3", "1_0", "15m", "9" * 400)
        ),
        *(
            (f"a,v6e 4x4,1,10,,{wrong}", f"line 2, column at: '{wrong}' is wrong; {TIMES}")
            for wrong in ("", "-1", "soon", "15 m", "1h30m", "inf", "9" * 400 + "s")
        ),
        ("a,v6e 4x4,1,10,,9999d", "line 2, column at: '9999d' is too long; allowed: up to 3650d"),
        ('a,v6e 4x4,1,10,,"0', "line 2: unexpected end of data; write each job in one line"),
    ],
)
def test_a_wrong_line_is_named_with_its_cause(row: str, message: str) -> None:
    with pytest.raises(InvalidTrace, match=f"^{re.escape(message)}$"):
        read_trace(f"{HEADER}\n{row}\n")


@pytest.mark.parametrize("wrong", ["0", "0.0h", "often"])
def test_a_time_between_checkpoints_is_above_0(wrong: str) -> None:
    message = f"line 2, column checkpoint: '{wrong}' is wrong; {TIMES}, above 0, or nothing"
    with pytest.raises(InvalidTrace, match=f"^{re.escape(message)}$"):
        read_trace(f"{HEADER},checkpoint\na,v6e 4x4,1,10,,0,{wrong}\n")


COLUMNS = "allowed: team, shape, slices, minutes, priority, at, name, checkpoint"


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("team,shape,slices,minutes,prio,at", f"line 3: 'prio' is not a column; {COLUMNS}; nearest: priority"),
        ("team,shape,slices,zzz,priority,at", f"line 3: 'zzz' is not a column; {COLUMNS}"),
        ("team,team,slices,minutes,priority,at", f"line 3: 'team' is a column twice; {COLUMNS}"),
        ("team,shape,slices,name", "line 3: missing columns: minutes, priority, at"),
        ("research,v6e 4x4,1,10,,0", f"line 3: 'research' is not a column; {COLUMNS}"),
    ],
)
def test_a_wrong_header_is_named_with_its_cause(header: str, message: str) -> None:
    with pytest.raises(InvalidTrace, match=f"^{re.escape(message)}$"):
        read_trace(f"# comment\n\n{header}\n")


@pytest.mark.parametrize("empty", ["", "\n", "# nothing\n", f"{HEADER}\n"])
def test_a_trace_without_jobs_is_rejected(empty: str) -> None:
    header = "team,shape,slices,minutes,priority,at,name,checkpoint"
    message = f"the trace has no job; write a line with {header}, and then a line for each job"
    with pytest.raises(InvalidTrace, match=f"^{message}$"):
        read_trace(empty)


@pytest.mark.parametrize("name", ["a" * 27, "1a", "A"])
def test_a_name_that_no_job_can_have_is_rejected(name: str) -> None:
    with pytest.raises(InvalidTrace, match=r"^line 2, column name: '\w+' is not a valid name of a JobSet; allowed: "):
        read_trace(f"{HEADER},name\na,v6e 4x4,1,10,,0,{name}\n")


@pytest.mark.parametrize("team", ["a" * 25, "1st"])
def test_a_job_gets_another_name_where_that_of_its_team_is_not_possible(team: str) -> None:
    jobs = read_trace(f"{HEADER}\na,v6e 4x4,1,10,,0\n{team},v6e 4x4,1,10,,0\n")
    assert [job.name for job in jobs] == ["a-1", "job-2"]


def test_names_are_unique_also_those_that_are_given_by_number() -> None:
    message = "line 3, column name: 'a-2' is the job of line 2; names are unique"
    with pytest.raises(InvalidTrace, match=f"^{message}$"):
        read_trace(f"{HEADER},name\na,v6e 4x4,1,10,,0,a-2\na,v6e 4x4,1,10,,0,\n")


@pytest.mark.parametrize("file", sorted((REPOSITORY / "examples/scenarios").glob("*.csv")), ids=lambda file: file.stem)
def test_traces_of_the_examples_are_of_one_day_and_of_known_shapes(file: Path) -> None:
    jobs = read_trace(file.read_text(encoding="utf-8"))
    assert 10 <= len(jobs) <= 80
    assert all(job.at < 86400 for job in jobs)


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet='a1,x \n"#.-h6e4\t', max_size=60))
def test_any_text_is_a_trace_or_an_error_with_a_line(text: str) -> None:
    with pytest.raises(InvalidTrace, match=r"^(line \d+|the trace has no job)"):
        read_trace(text)
    with pytest.raises(InvalidTrace, match=r"^(line \d+|the trace has no job)"):
        read_trace(f"{HEADER}\n{text}")


def test_a_generated_trace_is_the_same_byte_by_byte() -> None:
    assert generate(7, 2, 2, MIX, "day-night").splitlines() == [
        "# tpuplane-twin trace: seed 7, 2 hours, 2 jobs an hour, day-night",
        HEADER,
        "research,v6e 4x4,1,12,,391",
        "research,v6e 4x4,1,15,,846",
        "product,v6e 2x2,1,11,,918",
        "product,v6e 2x2,1,22,,4739",
    ]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 48), st.integers(1, 20), st.sampled_from(["poisson", "day-night"]))
def test_a_generated_trace_is_read_again(seed: int, hours: int, rate: int, pattern: Pattern) -> None:
    try:
        text = generate(seed, hours, rate, MIX, pattern)
    except InvalidTrace as error:
        assert str(error).startswith("no job arrives within")
        return
    assert text == generate(seed, hours, rate, MIX, pattern)
    jobs = read_trace(text)
    assert {(job.team, job.shape) for job in jobs} <= set(MIX)
    assert all(0 <= job.at < hours * 3600 and job.seconds >= 60 and job.slices == 1 for job in jobs)
    assert len(jobs) == len(text.splitlines()) - 2


def test_day_and_night_have_the_mean_rate_and_its_swing() -> None:
    jobs = read_trace(generate(1, 240, 40, MIX, "day-night"))
    assert len(jobs) == pytest.approx(9600, rel=0.03)
    by_hour = [sum(job.at // 3600 % 24 == hour for job in jobs) / 400 for hour in range(24)]
    assert by_hour[13] == pytest.approx(1.8, abs=0.15)
    assert by_hour[2] == pytest.approx(0.2, abs=0.1)
    minutes = sorted(job.seconds / 60 for job in jobs)
    assert minutes[len(minutes) // 2] == pytest.approx(60, rel=0.05)


def test_the_rate_of_a_poisson_process_does_not_change() -> None:
    jobs = read_trace(generate(1, 240, 40, MIX))
    assert len(jobs) == pytest.approx(9600, rel=0.03)
    by_hour = [sum(job.at // 3600 % 24 == hour for job in jobs) / 400 for hour in range(24)]
    assert all(rate == pytest.approx(1, abs=0.2) for rate in by_hour)


@pytest.mark.parametrize(
    ("hours", "rate", "message"),
    [
        (0, 4, "0 hours with 4 jobs an hour; allowed: both above 0, in all at most 10,000 jobs"),
        (-1, -4, "-1 hours with -4 jobs an hour; allowed: both above 0, in all at most 10,000 jobs"),
        (24, float("nan"), "24 hours with nan jobs an hour; allowed: both above 0, in all at most 10,000 jobs"),
        (24, 1000, "24 hours with 1000 jobs an hour; allowed: both above 0, in all at most 10,000 jobs"),
        (1, 0.001, "no job arrives within 1 hours with seed 1; give more hours or more jobs"),
    ],
)
def test_wrong_arguments_are_named(hours: float, rate: float, message: str) -> None:
    with pytest.raises(InvalidTrace, match=f"^{re.escape(message)}$"):
        generate(1, hours, rate, MIX)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("research", "'' is not a shape; write generation and topology, such as v6e 4x4"),
        ("=v6e-4x4", f"'' is wrong; {NAMES}"),
        ("a=v6x-4x4", "'v6x' is not a TPU generation; "),
    ],
)
def test_a_wrong_team_is_named(text: str, cause: str) -> None:
    with pytest.raises(InvalidTrace, match=f"^{re.escape(f'{text!r}: {cause}')}.*; write TEAM=SHAPE, such as"):
        team_and_shape(text)


def test_the_shipped_trace_is_what_the_command_of_the_page_prints() -> None:
    teams = [team_and_shape("research=v6e-4x4"), team_and_shape("product=v6e-4x4")]
    shipped = (REPOSITORY / "examples/scenarios/morning.csv").read_text()
    assert generate(seed=5, hours=6, jobs_per_hour=2, teams=teams) == shipped
