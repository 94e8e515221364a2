"""Stack files: where a mistake stands, and the files that are no stack files at all."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tpuplane.plan import plan
from tpuplane.spec import SpecError, StackFileMissing, load_stack, parse_platform

pytestmark = pytest.mark.unit

STACKS = Path(__file__).parents[3] / "stacks"

RIGHT = """\
# a comment
config:
  gcp:pollInterval: 1s
  tpuplane:platform:
    name: lab
    project: tpuplane-lab
    clusters:
      east:
        location: us-central1
        pools:
          trainer:
            generation: v6e
            topology: 4x4
"""


@pytest.fixture
def stack(tmp_path: Path) -> Path:
    file = tmp_path / "Pulumi.test.yaml"
    file.write_text(RIGHT)
    return file


def mistakes(file: Path) -> list[str]:
    with pytest.raises(SpecError) as rejected:
        load_stack(file)
    return str(rejected.value).splitlines()


IN_PLATFORM, IN_STACK = "    project: tpuplane-lab\n", "  gcp:project: {}\n  tpuplane:platform:\n"


@pytest.mark.parametrize(("own", "project"), [("", "acme-lab"), (IN_PLATFORM, "tpuplane-lab")])
def test_the_project_is_the_providers_unless_the_platform_has_its_own(stack: Path, own: str, project: str) -> None:
    text = RIGHT.replace(IN_PLATFORM, own)
    stack.write_text(text.replace("  tpuplane:platform:\n", IN_STACK.format("acme-lab")))
    assert load_stack(stack).project == project


@pytest.mark.parametrize(
    ("given", "mistake"),
    [
        ("Acme", "4: project: 'Acme' is not allowed; allowed: a project id: "),
        ("1234567", "4: project: '1234567' is not allowed; allowed: a project id: "),
        ("''", "4: project: required: Google Cloud project id, as gcp:project of the stack or here"),
        (None, "4: project: required: Google Cloud project id, as gcp:project of the stack or here"),
    ],
)
def test_a_wrong_project_is_shown_where_it_is_written(stack: Path, given: str | None, mistake: str) -> None:
    text = RIGHT.replace(IN_PLATFORM, "")
    if given is not None:
        text = text.replace("  tpuplane:platform:\n", IN_STACK.format(given))
    stack.write_text(text)
    (line,) = mistakes(stack)
    assert line.startswith(f"{stack}:{mistake}")


def test_the_platform_is_read_from_its_config_key(stack: Path) -> None:
    assert load_stack(stack).clusters["east"].pools["trainer"].topology == "4x4"


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("topology: 4x4", "topology: 4x5", "13: clusters.east.pools.trainer.topology"),
        ("topology: 4x4", "max_pods_per_node: 1", "13: clusters.east.pools.trainer.max_pods_per_node"),
        ("    name: lab\n", "", "4: name"),
        ("          trainer:", "          9trainer:", "11: clusters.east.pools.9trainer"),
        (
            "        pools:",
            "        namespaces:\n          - ok\n          - No\n        pools:",
            "12: clusters.east.namespaces[1]",
        ),
    ],
)
def test_a_mistake_names_its_line(stack: Path, old: str, new: str, place: str) -> None:
    stack.write_text(RIGHT.replace(old, new))
    assert any(line.startswith(f"{stack}:{place}: ") for line in mistakes(stack))


def test_a_quantity_with_an_exponent_is_no_version(stack: Path) -> None:
    addons = "        addons: {kueue: {resources: {limits: {memory: 4e9}}}}\n"
    stack.write_text(RIGHT.replace("        pools:\n", f"{addons}        pools:\n"))
    (line,) = mistakes(stack)
    assert line.endswith(".limits.memory: 4e9 is a number in YAML, not a string; put it in quotes")


def test_the_program_rejects_in_the_same_words(stack: Path) -> None:
    stack.write_text(RIGHT.replace("4x4", "4x5").replace("lab", "Lab", 1))
    with_lines = [re.sub(r"^.*?:\d+: ", "", line) for line in mistakes(stack)]
    with pytest.raises(SpecError) as rejected:
        parse_platform(
            {
                "name": "Lab",
                "project": "tpuplane-lab",
                "clusters": {
                    "east": {"location": "us-central1", "pools": {"trainer": {"generation": "v6e", "topology": "4x5"}}}
                },
            }
        )
    assert with_lines == str(rejected.value).splitlines()


def test_a_key_written_twice_is_rejected_where_it_is_repeated(stack: Path) -> None:
    stack.write_text(RIGHT + "          trainer:\n            generation: v5e\n            topology: 4x4\n")
    assert mistakes(stack) == [f"{stack}:14: clusters.east.pools.trainer: is given twice; remove one"]


@pytest.mark.parametrize(
    ("once", "again", "key"),
    [
        ("        location: us-central1\n", "        location: europe-north1\n", "clusters.east.location"),
        ("            topology: 4x4\n", "            topology: 4x5\n", "clusters.east.pools.trainer.topology"),
        ("            topology: 4x4\n", "            topology: [4]\n", "clusters.east.pools.trainer.topology"),
    ],
)
@pytest.mark.parametrize("wrong_first", [True, False])
def test_what_follows_from_one_of_two_values_is_no_mistake(
    stack: Path, once: str, again: str, key: str, wrong_first: bool
) -> None:
    text = stack.read_text()
    assert text.count(once) == 1
    stack.write_text(text.replace(once, again + once if wrong_first else once + again))
    (line,) = mistakes(stack)
    assert line.endswith(f": {key}: is given twice; remove one")


def test_a_mistake_next_to_a_repeated_key_is_reported_too(stack: Path) -> None:
    text = stack.read_text().replace("            topology: 4x4\n", "            topology: 4x4\n" * 2)
    stack.write_text(text.replace("location: us-central1", "location: nowhere"))
    lines = mistakes(stack)
    assert len(lines) == 2
    assert any("nowhere" in line for line in lines)


def test_a_pulumi_key_written_twice_is_rejected_too(stack: Path) -> None:
    stack.write_text(RIGHT + "  gcp:pollInterval: 2s\n")
    assert mistakes(stack) == [f"{stack}:14: config.gcp:pollInterval: is given twice; remove one"]


def test_a_mistake_behind_an_anchor_is_reported_once_where_it_is_written(stack: Path) -> None:
    twins = "          twin: &shape {generation: v6e, topology: 9x9}\n          trainer: *shape\n          other:"
    stack.write_text(RIGHT.replace("          trainer:", twins))
    (line,) = mistakes(stack)
    assert line.startswith(f"{stack}:11: clusters.east.pools.trainer.topology: '9x9' is not a v6e topology")


def test_an_own_key_wins_over_a_merged_one(stack: Path) -> None:
    merged = "          base: &shape {generation: v6e, topology: 2x2}\n          own: {<<: *shape, topology: 8x8}\n"
    stack.write_text(RIGHT + merged)
    assert load_stack(stack).clusters["east"].pools["own"].topology == "8x8"
    stack.write_text(RIGHT + merged.replace("topology: 8x8", "topology: 9x9"))
    (line,) = mistakes(stack)
    assert line.startswith(f"{stack}:15: clusters.east.pools.own.topology: '9x9'")
    stack.write_text(RIGHT + merged.replace("topology: 8x8", "topology: 8x8, topology: 4x4"))
    assert mistakes(stack) == [f"{stack}:15: clusters.east.pools.own.topology: is given twice; remove one"]


def test_json_text_is_read_as_the_program_reads_it(stack: Path) -> None:
    """`pulumi config set tpuplane:platform '{…}'` stores text."""
    description = load_stack(stack).model_dump(mode="json", by_alias=True, exclude_unset=True)
    as_text = stack.with_name("Pulumi.text.yaml")
    as_text.write_text(json.dumps({"config": {"tpuplane:platform": json.dumps(description)}}))
    assert load_stack(as_text) == load_stack(stack)


def test_a_file_that_is_not_there_lists_those_that_are(stack: Path) -> None:
    missing = stack.with_name("Pulumi.tset.yaml")
    with pytest.raises(StackFileMissing) as rejected:
        load_stack(missing)
    assert str(rejected.value) == f"{missing} does not exist; stack files there: {stack}"


@pytest.mark.parametrize("called", ["test", ""])
def test_the_folder_of_a_project_lists_its_stack_files(called: str, stack: Path) -> None:
    """As with the name of a stack, which `pulumi` and `tpuplane-twin rehearse` take."""
    project = stack.parent
    (project / "stacks").mkdir()
    moved = stack.rename(project / "stacks" / stack.name)
    with pytest.raises(StackFileMissing, match=f"; stack files there: {moved}$"):
        load_stack(project / called)


def test_a_folder_without_stack_files_says_so(tmp_path: Path) -> None:
    with pytest.raises(StackFileMissing, match="there is no stack file in"):
        load_stack(tmp_path / "nowhere" / "Pulumi.dev.yaml")


def test_a_folder_is_no_stack_file(stack: Path) -> None:
    with pytest.raises(StackFileMissing, match="is a folder; stack files there: "):
        load_stack(stack.parent)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("config:\n  a: [1\n  b: 2\n", ":3: not YAML: "),
        ("config:\n\ta: 1\n", ":2: not YAML: the line begins with a tab; indent YAML with spaces"),
        ("config:\n  a: !secret x\n", ":2: not YAML: the tag !secret is not supported; remove it"),
        ("a: 1\n---\nb: 2\n", ":2: not YAML: expected a single document in the stream, but found another document"),
        ("", ":1: a Pulumi stack file is a mapping with config: tpuplane:platform; this one holds nothing"),
        ("- 1\n", ":1: a Pulumi stack file is a mapping with config: tpuplane:platform; this one holds [1]"),
        ("config: {}\n", ":1: config has no tpuplane:platform, where the platform is described"),
        ("config:\n", ":1: config has no tpuplane:platform, where the platform is described"),
        (
            "config:\n  tpuplan:platform: {}\n",
            ":1: config has no tpuplane:platform, where the platform is described; "
            "is the description under 'tpuplan:platform'?",
        ),
        (
            "gcp:project: p\ntpuplane:platform: {}\n",
            ":2: tpuplane:platform is at the top of the file; move it below config:",
        ),
        (
            "config:\n  gcp:project: p\ntpuplane:platform: {}\n",
            ":3: tpuplane:platform is at the top of the file; move it below config:",
        ),
        ("config:\n  tpuplane:platform: 5\n", ":2: a description is a mapping with name, project and clusters, not 5"),
        ("config:\n  tpuplane:platform: '{'\n", ":2: tpuplane:platform is text, but not JSON: Expecting property name"),
        ('config:\n  tpuplane:platform: \'{"a": 1, "a": 2}\'\n', ":2: tpuplane:platform is text, but not JSON: 'a' is"),
        (f"config:\n  tpuplane:platform: '{'[' * 9000}'\n", ":2: tpuplane:platform is text, but not JSON: maximum"),
        ("config:\n  tpuplane:platform: {secure: v1:abc}\n", ":2: tpuplane:platform is encrypted, and the plan must"),
    ],
)
def test_what_is_no_stack_file_is_rejected_in_one_line(stack: Path, text: str, said: str) -> None:
    stack.write_text(text)
    (line,) = mistakes(stack)
    assert line.startswith(f"{stack}{said}")


def test_bytes_that_are_no_text(stack: Path) -> None:
    stack.write_bytes(b"config: \xff\n")
    assert mistakes(stack) == [f"{stack}: not UTF-8 text: invalid start byte at byte 8; save it as UTF-8"]


@pytest.mark.parametrize("file", sorted(STACKS.glob("Pulumi.*.yaml")), ids=lambda file: file.name)
def test_the_stacks_that_are_shipped_are_right(file: Path) -> None:
    assert plan(load_stack(file)).chips > 0


def test_the_local_stack_is_two_clusters_with_the_pools_that_are_promised() -> None:
    platform = plan(load_stack(STACKS / "Pulumi.local.yaml"))
    shapes = {
        cluster.location: sorted({str(pool.slice) for pool in cluster.tpu_pools}) for cluster in platform.clusters
    }
    assert shapes == {"us-central1": ["v5e 4x4", "v6e 2x2", "v6e 2x4", "v6e 4x4"], "us-central2-b": ["v4 2x2x2"]}
    assert not any(cluster.deletion_protection for cluster in platform.clusters)
