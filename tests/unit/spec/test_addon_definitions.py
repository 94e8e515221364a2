"""Operators that tpuplane does not ship: their definitions, from a project, a package and a revision."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml
from tpuplane.diff import diff
from tpuplane.former_stack import load_revision
from tpuplane.plan import ClusterPlan, plan
from tpuplane.spec import SpecError, load_stack
from tpuplane.spec.addons.definitions import load_definition
from tpuplane.spec.core.errors import dotted

from tests.support import REPOSITORY
from tests.support.git import git

pytestmark = pytest.mark.unit

EXAMPLE = REPOSITORY / "examples" / "kubeflow-trainer"
STACK, DEFINITION = "stacks/Pulumi.lab.yaml", "addons/trainer.yaml"
HERE = "clusters.main.addons.custom.trainer"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example in a folder that tests change, which is the current one."""
    shutil.copytree(EXAMPLE, tmp_path / "project")
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def replace(file: str, old: str, new: str) -> None:
    text = Path(file).read_text()
    assert old in text
    Path(file).write_text(text.replace(old, new, 1))


def cluster() -> ClusterPlan:
    (found,) = plan(load_stack(STACK)).clusters
    return found


def test_the_definition_is_planned_like_those_that_are_shipped(project: Path) -> None:
    addons = {addon.key: addon for addon in cluster().addons}
    assert list(addons) == ["jobset", "trainer", "kueue"]
    trainer = addons["trainer"]
    assert (trainer.title, trainer.chart.version, trainer.namespace) == ("Kubeflow Trainer", "2.2.1", "kubeflow-system")
    assert trainer.after == ("jobset",)
    assert addons["kueue"].after == ("jobset", "trainer")
    assert trainer.probe is not None
    assert (trainer.probe["group"], trainer.probe["plural"]) == ("trainer.kubeflow.org", "clustertrainingruntimes")
    image = {"registry": "ghcr.io", "repository": "kubeflow/trainer/trainer-controller-manager", "tag": "v2.2.1"}
    assert trainer.values["image"] == image
    resources = {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"cpu": "1", "memory": "512Mi"}}
    selector = {"cloud.google.com/gke-nodepool": "system"}
    user = {"runAsUser": 65532}
    expected = {"replicas": 1, "resources": resources, "nodeSelector": selector, "securityContext": user}
    assert trainer.values["manager"] == expected


def test_only_a_definition_with_a_go_module_is_built(project: Path) -> None:
    found = [next(addon.build for addon in cluster().addons if addon.key == "trainer")]
    definition = yaml.safe_load(Path(DEFINITION).read_text())
    del definition["goModule"]
    Path(DEFINITION).write_text(yaml.safe_dump(definition))
    found += [next(addon.build for addon in cluster().addons if addon.key == "trainer")]
    assert found == ["DEFINITION", None]


def test_kueue_manages_its_kinds_and_ignores_its_namespace(project: Path) -> None:
    (kueue,) = (addon for addon in cluster().addons if addon.key == "kueue")
    configuration = yaml.safe_load(kueue.values["managerConfig"]["controllerManagerConfigYaml"])
    assert "trainer.kubeflow.org/trainjob" in configuration["integrations"]["frameworks"]
    (rule,) = configuration["managedJobsNamespaceSelector"]["matchExpressions"]
    assert "kubeflow-system" in rule["values"]


@pytest.mark.parametrize(
    ("file", "old", "new", "lines"),
    [
        (
            STACK,
            "addons/trainer",
            "addons/trainr",
            [f"{STACK}:15: {HERE}.definition: 'addons/trainr.yaml' cannot be read: PROJECT/addons/trainr.yaml: No"],
        ),
        (
            STACK,
            "addons/trainer.yaml",
            "trainer",
            [
                f"{STACK}:15: {HERE}.definition: 'trainer' is not an add-on of an installed package; none exists; "
                "install its package, or name a file of the project, which ends with .yaml or .yml"
            ],
        ),
        (STACK, "trainer: {definition", "kueue: {definition", ["'kueue' is an add-on that tpuplane ships"]),
        (STACK, "trainer.yaml}", "trainer.yaml, replica: 2}", ["; nearest: replicas"]),
        (
            DEFINITION,
            "title:",
            "titel:",
            [f"{DEFINITION}:2: {HERE}.definition.titel: unknown field; allowed: title, chart, "],
        ),
        (
            DEFINITION,
            "version: 2.2.1",
            "version: ^2",
            [f"{DEFINITION}:3: {HERE}.definition.chart.version: '^2' is not the version of one release of a chart"],
        ),
        (
            DEFINITION,
            "  plural: clustertrainingruntimes\n",
            "",
            [f"{DEFINITION}:8: {HERE}.definition.probe.plural: required: Name of the kind in paths of the API"],
        ),
        (
            DEFINITION,
            "[jobset]",
            "[jobst]",
            [f"{DEFINITION}:6: {HERE}.definition.needs[0]: 'jobst' is not another add-on; allowed: certManager"],
        ),
        (
            STACK,
            "jobset: {}",
            "certManager: {}",
            [f"{DEFINITION}:6: {HERE}.definition.needs[0]: Kubeflow Trainer needs JobSet, which this cluster does not"],
        ),
        (
            DEFINITION,
            "[jobset]",
            "[jobset, kueue]",
            [f"{HERE}.definition.needs: trainer and kueue wait for each other, because Kueue waits for the kinds"],
        ),
        (
            DEFINITION,
            "[jobset]",
            "[trainer]",
            [f"{DEFINITION}:6: {HERE}.definition.needs[0]: 'trainer' is not another add-on; allowed: certManager"],
        ),
        (DEFINITION, "[jobset]", "[jobset, jobset]", [f"{DEFINITION}:6: {HERE}.definition.needs[1]: 'jobset' is in"]),
        (
            DEFINITION,
            "kubeflow-system",
            "jobset-system",
            ["'jobset-system' is the namespace of JobSet, which creates it; use another name"],
        ),
        (DEFINITION, "kubeflow-system", "kube-system", ["'kube-system' is reserved"]),
        (
            DEFINITION,
            "$replicas",
            "$replica",
            [f"{HERE}.definition.values.manager.replicas: '$replica' is not a value that the plan fills in"],
        ),
        (
            DEFINITION,
            "replicas: $replicas",
            "replicas: '$replicas '\n    script: echo $HOME $home ${image} $replicas2 $$replicas $image_name\n"
            "    template: '{{ $replicas }}'",
            [f"{HERE}.definition.values.manager.replicas: $replicas in '$replicas ' is not replaced, because"],
        ),
        (
            DEFINITION,
            "image: {repository: kubeflow",
            "secret: some #",
            ["'$imageRepository' needs image in the definition", "'$imageTag' needs image in the definition"],
        ),
        (DEFINITION, "[trainer.kubeflow.org/trainjob]", "[job]", ["'job' is not a kind that Kueue can manage"]),
        (
            DEFINITION,
            'limits: {cpu: "1"',
            "limits: {cpu: 10m",
            [f"{HERE}.definition.requests.cpu: '100m' is more than its limit, 10m; raise the limit, or lower"],
        ),
        (DEFINITION, "needs:", "title: Again\nneeds:", [f"{DEFINITION}:6: {HERE}.definition.title: is given twice"]),
        (STACK, "addons/trainer.yaml", "/trainer.yaml", ["definition: '/trainer.yaml' is an absolute path; name"]),
        (STACK, "addons/trainer.yaml", r'"\0.yaml"', ["definition: '\\x00.yaml' cannot be read: embedded null"]),
        (DEFINITION, "title: Kubeflow", "title: [", [f"{DEFINITION}:3: {HERE}.definition: not YAML: "]),
    ],
)
def test_each_mistake_is_a_line_with_its_file(project: Path, file: str, old: str, new: str, lines: list[str]) -> None:
    replace(file, old, new)
    with pytest.raises(SpecError) as error:
        load_stack(STACK)
    found = str(error.value).replace(str(project), "PROJECT").splitlines()
    assert len(found) == len(lines)
    assert [line for line, wanted in zip(found, lines, strict=True) if wanted not in line] == []


def test_a_field_without_an_effect_is_a_mistake(project: Path) -> None:
    replace(STACK, "trainer.yaml}", "trainer.yaml, replicas: 2}")
    assert cluster().addons[1].values["manager"]["replicas"] == 2
    replace(DEFINITION, "    replicas: $replicas\n", "")
    with pytest.raises(SpecError, match=r"custom\.trainer\.replicas: has no effect, because .* do not use \$replicas"):
        load_stack(STACK)


def test_a_chart_with_kinds_is_installed_once(project: Path) -> None:
    second = Path(DEFINITION).read_text().replace("kubeflow-system", "second-system").replace("title:", "title: Other")
    Path("addons/other.yaml").write_text(second)
    replace(STACK, "trainer: {def", "other: {definition: addons/other.yaml}\n            trainer: {def")
    both = r"'kubeflow-trainer' is also the chart of {}, and a cluster has its roles only once; remove one of the two"
    for here, other in (("trainer", "Other Kubeflow Trainer"), ("other", "Kubeflow Trainer")):
        with pytest.raises(SpecError, match=rf"{here}\.definition\.chart\.name: {both.format(other)}"):
            load_stack(STACK)
    # Without kinds, all of its objects can be in its namespaces.
    values = [yaml.safe_load(Path(f"addons/{name}.yaml").read_text()) for name in ("trainer", "other")]
    for name, value in zip(("trainer", "other"), values, strict=True):
        del value["probe"], value["frameworks"]
        Path(f"addons/{name}.yaml").write_text(yaml.safe_dump(value))
    assert [addon.key for addon in cluster().addons] == ["jobset", "kueue", "other", "trainer"]


def test_a_renamed_operator_is_rejected_while_its_objects_exist(project: Path) -> None:
    here, before = ("clusters", "main", "addons"), load_stack(STACK)
    replace(STACK, "trainer: {def", "train2: {def")
    (rename,) = diff(before, load_stack(STACK)).rejected
    assert rename.path == here
    assert str(rename) == (
        "Pulumi rejects this: it creates train2 before it deletes trainer, and both have the namespace "
        "kubeflow-system. First remove trainer, and run `pulumi up`; then add train2 and update again."
    )
    replace(DEFINITION, "kubeflow-system", "other-system")
    (moved,) = diff(before, load_stack(STACK)).rejected
    assert "both have the chart kubeflow-trainer" in str(moved)
    replace(DEFINITION, "name: kubeflow-trainer", "name: other")
    assert diff(before, load_stack(STACK)).rejected == ()


def test_a_mistake_of_a_definition_that_two_clusters_name_is_reported_once(project: Path) -> None:
    content = yaml.safe_load(Path(STACK).read_text())
    clusters = content["config"]["tpuplane:platform"]["clusters"]
    network = {"nodesCidr": "10.0.16.0/20", "podsCidr": "10.68.0.0/14", "servicesCidr": "10.32.16.0/20"}
    clusters["more"] = {"location": "us-east5", "network": network, "addons": clusters["main"]["addons"]}
    Path(STACK).write_text(yaml.safe_dump(content))
    replace(DEFINITION, "version: 2.2.1", "version: ^2")
    with pytest.raises(SpecError) as error:
        load_stack(STACK)
    assert len(error.value.mistakes) == 1


def install(folder: Path, package: str, text: str) -> None:
    """A distribution with the add-on `trainer`, as an installer writes it."""
    (folder / package).mkdir(parents=True)
    (folder / package / "__init__.py").touch()
    (folder / package / "trainer.yaml").write_text(text)
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[tpuplane.addons]\ntrainer = {package}\n")


def test_a_definition_of_an_installed_package(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = cluster()
    replace(STACK, "addons/trainer.yaml", "trainer")
    install(tmp_path / "one", "acme_addons", Path(DEFINITION).read_text())
    monkeypatch.syspath_prepend(tmp_path / "one")
    assert cluster() == own
    replace(STACK, "definition: trainer", "definition: trainr")
    with pytest.raises(SpecError, match=r"'trainr' is not .* package; allowed: trainer; install its package"):
        load_stack(STACK)
    replace(STACK, "definition: trainr", "definition: trainer")
    install(tmp_path / "two", "other_addons", "title: Other\n")
    monkeypatch.syspath_prepend(tmp_path / "two")
    with pytest.raises(SpecError, match="'trainer' is in several packages: acme_addons, other_addons; uninstall"):
        load_stack(STACK)


@pytest.mark.parametrize(
    ("package", "file", "message"),
    [
        ("acme_addons", "other.yaml", r"acme_addons/trainer\.yaml: No such .*; restore the file, or install a package"),
        ("acme_addons.none", "trainer.yaml", "'trainer': 'acme_addons.none' is not a package; correct the entry point"),
        ("acme_none.addons", "trainer.yaml", "'acme_none.addons' is not a package"),
        ("acme_addons.none.none", "trainer.yaml", "'acme_addons.none.none' is not a package"),
        (".acme_addons", "trainer.yaml", "'.acme_addons' is not a package"),
        ("acme_addons:trainer", "trainer.yaml", "'acme_addons:trainer' is not a package"),
    ],
)
def test_a_package_without_the_file_is_a_mistake(
    package: str, file: str, message: str, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace(STACK, "addons/trainer.yaml", "trainer")
    install(tmp_path / "one", "acme_addons", Path(DEFINITION).read_text())
    (tmp_path / "one/acme_addons/trainer.yaml").rename(tmp_path / "one/acme_addons" / file)
    points = tmp_path / "one/acme_addons-1.0.dist-info/entry_points.txt"
    points.write_text(f"[tpuplane.addons]\ntrainer = {package}\n")
    monkeypatch.syspath_prepend(tmp_path / "one")
    with pytest.raises(SpecError, match=message):
        load_stack(STACK)


def test_a_package_is_not_imported(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = cluster()
    replace(STACK, "addons/trainer.yaml", "trainer")
    install(tmp_path / "one", "acme_addons", Path(DEFINITION).read_text())
    (tmp_path / "one/acme_addons/__init__.py").write_text("raise RuntimeError\n")
    monkeypatch.syspath_prepend(tmp_path / "one")
    assert cluster() == own


def test_a_changed_definition_is_a_change(project: Path) -> None:
    before = load_stack(STACK)
    replace(DEFINITION, "version: 2.2.1", "version: 2.2.2")
    replace(DEFINITION, "install: false", "install: true")
    changes = diff(before, load_stack(STACK)).changes
    found = {dotted(change.path): (change.kind, change.before, change.after) for change in changes}
    assert found == {
        f"{HERE}.definition.chart.version": ("in-place", "2.2.1", "2.2.2"),
        f"{HERE}.definition.values.jobset": ("in-place", {"install": False}, {"install": True}),
    }


def test_a_revision_has_its_own_definition(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    former = load_stack(STACK)
    git(project, "init", "--quiet")
    git(project, "add", ".")
    git(project, "commit", "--quiet", "-m", "one")
    replace(DEFINITION, "namespace: kubeflow-system", "namespace: other")
    (change,) = diff(load_revision(f"HEAD:{STACK}"), load_stack(STACK)).changes
    assert (change.kind, change.before, change.after) == ("deletes-work", "kubeflow-system", "other")
    assert load_revision(f"HEAD:./{STACK}") == former
    assert load_revision(f":0:{STACK}") == load_revision(f":{STACK}") == former
    monkeypatch.chdir("addons")
    assert load_revision(f"HEAD:../{STACK}") == former
    monkeypatch.chdir(project)
    git(project, "rm", "--quiet", "--cached", DEFINITION)
    git(project, "commit", "--quiet", "-m", "two")
    with pytest.raises(SpecError, match=r"HEAD:stacks/Pulumi\.lab\.yaml: .*definition: .*addons/trainer\.yaml"):
        load_revision(f"HEAD:{STACK}")


def test_a_definition_alone(project: Path) -> None:
    assert load_definition(DEFINITION).chart.version == "2.2.1"
    replace(DEFINITION, "title:", "titel:")
    with pytest.raises(SpecError, match=r"addons/trainer\.yaml:2: titel: unknown field"):
        load_definition(DEFINITION)
