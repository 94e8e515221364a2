"""Add-ons: what is installed, in what order, and what their charts are told."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any, ClassVar

import pytest
import yaml
from tpuplane.plan import ClusterPlan, plan
from tpuplane.plan.addons import AddonPlan
from tpuplane.spec import SpecError, parse_platform
from tpuplane.spec.addons import catalogue
from tpuplane.spec.addons.catalogue import addon_catalogue
from tpuplane.spec.core.rules import spec_data

from tests.support.planned import addon_of

pytestmark = pytest.mark.unit


# What the twin runs.
OPERATORS = {key: addon_catalogue().addons[key] for key in ("jobset", "ray", "kueue")}


def cluster(**addons: Any) -> ClusterPlan:
    description = {"location": "us-central1", "addons": addons}
    if "kueueSliceController" in addons:
        description |= {"sliceController": True, "releaseChannel": "RAPID", "version": "1.36"}
        description["systemPool"] = {"machineType": "e2-standard-16"}
    return plan(parse_platform({"name": "lab", "project": "tpuplane-lab", "clusters": {"main": description}})).clusters[
        0
    ]


def addon(key: str, **addons: Any) -> AddonPlan:
    found = addon_of(cluster(**addons), key)
    assert found is not None
    return found


def kueue_configuration(kueue: dict[str, Any], **others: Any) -> dict[str, Any]:
    values = addon("kueue", kueue=kueue, **others).values
    configuration: dict[str, Any] = yaml.safe_load(values["managerConfig"]["controllerManagerConfigYaml"])
    return configuration


class TestOrder:
    def test_the_data_file_keeps_its_own_order(self) -> None:
        seen: set[str] = set()
        for key, entry in addon_catalogue().addons.items():
            assert set(entry.after) <= seen, f"{key} stands before what it waits for"
            seen.add(key)

    def test_a_definition_without_a_place_is_an_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        data = {**spec_data("addons"), "order": ["certManager", "kueue", "other"]}
        monkeypatch.setattr(catalogue, "spec_data", lambda _: data)
        said = "jobset, .*other.*: an add-on needs spec/data/addons/NAME.yaml, and a place in `order`"
        with pytest.raises(LookupError, match=said):
            addon_catalogue.__wrapped__()

    def test_kueue_waits_for_those_that_the_cluster_has(self) -> None:
        everything = cluster(kueue={}, jobset={}, ray={"mode": "operator"}, certManager={})
        assert {planned_addon.key: planned_addon.after for planned_addon in everything.addons} == {
            "certManager": (),
            "jobset": (),
            "ray": (),
            "rayTpuWebhook": ("certManager", "ray"),
            "kueue": ("certManager", "jobset", "ray"),
        }
        assert [planned_addon.key for planned_addon in everything.addons][-1] == "kueue"
        assert addon("kueue", kueue={}).after == ()
        assert addon("kueue", kueue={}, leaderWorkerSet={}).after == ("leaderWorkerSet",)

    def test_nothing_is_installed_unasked(self) -> None:
        assert cluster().addons == ()
        assert cluster().ray_operator

    @pytest.mark.parametrize(
        ("mode", "google", "ours"), [("gke-addon", True, 0), ("operator", False, 1), ("none", False, 0)]
    )
    def test_kuberay_is_there_once(self, mode: str, google: bool, ours: int) -> None:
        made = cluster(ray={"mode": mode}, certManager={})
        assert (
            made.ray_operator,
            len([planned_addon for planned_addon in made.addons if planned_addon.key == "ray"]),
        ) == (google, ours)

    def test_the_tpu_webhook_comes_with_kuberays_own_operator(self) -> None:
        def has(**ray: Any) -> bool:
            return addon_of(cluster(ray=ray, certManager={}), "rayTpuWebhook") is not None

        assert has(mode="operator")
        assert not has(mode="operator", tpuWebhook=False)
        assert not has(mode="gke-addon")


class TestKueueConfiguration:
    def test_it_manages_what_the_cluster_has(self) -> None:
        def managed(**others: Any) -> set[str]:
            return set(kueue_configuration({}, **others)["integrations"]["frameworks"])

        base = {"batch/job", "pod", "deployment", "statefulset"}
        ray = {"ray.io/rayjob", "ray.io/raycluster"}
        assert managed() == base | ray
        assert managed(ray={"mode": "operator"}, certManager={}) == base | ray
        assert managed(ray={"mode": "none"}, jobset={}) == base | {"jobset.x-k8s.io/jobset"}
        served = base | {"leaderworkerset.x-k8s.io/leaderworkerset"}
        assert managed(ray={"mode": "none"}, leaderWorkerSet={}) == served

    def test_it_leaves_the_operators_alone(self) -> None:
        """Its webhooks would stand before the pods of the very operators that it waits for."""
        (rule,) = kueue_configuration({})["managedJobsNamespaceSelector"]["matchExpressions"]
        assert (rule["key"], rule["operator"]) == ("kubernetes.io/metadata.name", "NotIn")
        own = {entry.namespace for key, entry in addon_catalogue().addons.items() if key != "kueueSliceController"}
        assert own | {"kube-system", "gmp-system"} <= set(rule["values"])
        # Of what a cluster has by default, or with storage, networking and checkpointing that it can be given.
        gke = {"volumepopulator", "networking-dra-driver", "lustrecsi", "parallelstorecsi", "filestorecsi"}
        assert {f"gke-managed-{name}" for name in gke | {"checkpointing", "cim", "system"}} <= set(rule["values"])

    def test_only_a_cluster_with_the_slice_controller_leaves_that_alone(self) -> None:
        """Kueue's configuration of all other clusters stays as it was before the add-on."""
        for others in ({}, {"jobset": {}, "kueueSliceController": {}}):
            (rule,) = kueue_configuration({}, **others)["managedJobsNamespaceSelector"]["matchExpressions"]
            assert ("slice-controller-system" in rule["values"]) == bool(others)

    def test_the_slice_controller_has_the_image_and_the_size_of_the_user(self) -> None:
        own = {"image": "mirror.example/controller:v1", "resources": {"requests": {"cpu": "1"}}}
        values = [
            addon("kueueSliceController", kueue={}, jobset={}, kueueSliceController=found).values for found in ({}, own)
        ]
        assert [found["image"] for found in values] == ["tpuongke/kueue-slice-controller:latest", own["image"]]
        assert [found["resources"]["requests"]["cpu"] for found in values] == ["8", "1"]
        assert [found["resources"]["requests"]["memory"] for found in values] == ["16Gi", "16Gi"]

    def test_options_are_off_until_they_are_asked_for(self) -> None:
        assert {"fairSharing", "waitForPodsReady", "internalCertManagement"}.isdisjoint(kueue_configuration({}))
        found = kueue_configuration(
            {
                "waitForPodsReady": {"timeout": "20m", "requeuing": {"backoffLimitCount": 3}},
                "manageJobsWithoutQueueName": True,
                "metrics": False,
            }
        )
        assert (found["waitForPodsReady"]["timeout"], found["waitForPodsReady"]["recoveryTimeout"]) == ("20m", "20m")
        assert found["waitForPodsReady"]["requeuingStrategy"]["backoffLimitCount"] == 3
        assert found["manageJobsWithoutQueueName"] is True
        assert found["metrics"] == {"bindAddress": ":8443", "enableClusterQueueResources": False}

    def test_queues_that_share_by_weight_are_told_to(self) -> None:
        whole: dict[str, Any] = {
            "name": "lab",
            "project": "tpuplane-lab",
            "clusters": {"main": {"location": "us-central1", "addons": {"kueue": {}}}},
            "teams": {"research": {"clusters": {"main": {}}}},
        }

        def configured(fair: bool) -> dict[str, Any]:
            made = addon_of(plan(parse_platform({**whole, "queues": {"fairSharing": fair}})).clusters[0], "kueue")
            assert made is not None
            text = made.values["managerConfig"]["controllerManagerConfigYaml"]
            configuration: dict[str, Any] = yaml.safe_load(text)
            return configuration

        strategies = configured(True)["fairSharing"]["preemptionStrategies"]
        assert strategies == ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]
        assert "fairSharing" not in configured(False)

    def test_one_cluster_s_configuration_is_not_another_s(self) -> None:
        assert kueue_configuration({"metrics": False}) != kueue_configuration({})
        assert kueue_configuration({}) == kueue_configuration({})

    def test_cert_manager_takes_over_from_kueue(self) -> None:
        """Complaint 22: Kueue makes its own unless both chart and configuration say otherwise."""
        kueue = {"certificates": "cert-manager"}
        assert addon("kueue", kueue=kueue, certManager={}).values["enableCertManager"] is True
        assert kueue_configuration(kueue, certManager={})["internalCertManagement"] == {"enable": False}


class TestValues:
    def test_operators_run_on_the_system_pool(self) -> None:
        made = cluster(kueue={}, jobset={}, ray={"mode": "operator", "tpuWebhook": False}, certManager={})
        assert made.system_pool is not None
        place = {"cloud.google.com/gke-nodepool": made.system_pool.name}
        certificates, jobset, ray, kueue = (planned_addon.values for planned_addon in made.addons)
        assert certificates["nodeSelector"] == certificates["webhook"]["nodeSelector"] == place
        assert jobset["controller"]["nodeSelector"] == ray["nodeSelector"] == place
        assert kueue["controllerManager"]["nodeSelector"] == place

    def test_resources_are_laid_over_the_defaults(self) -> None:
        wanted = {"limits": {"memory": "8Gi"}}
        found = addon("kueue", kueue={"resources": wanted}).values["controllerManager"]["manager"]["resources"]
        assert found["limits"] == {"cpu": "2", "memory": "8Gi"}
        assert found["requests"] == addon_catalogue().addons["kueue"].requests.model_dump()

    @pytest.mark.parametrize(("replicas", "budget"), [(1, False), (2, True)])
    def test_a_single_replica_holds_up_no_drain(self, replicas: int, budget: bool) -> None:
        for key in ("kueue", "jobset"):
            values = addon(key, **{key: {"replicas": replicas}}).values
            part = values["controllerManager" if key == "kueue" else "controller"]
            assert (part["replicas"], part["podDisruptionBudget"]["enabled"]) == (replicas, budget)

    def test_operators_run_as_the_user_of_their_image(self) -> None:
        kueue = addon("kueue", kueue={}).values["controllerManager"]["manager"]
        jobset = addon("jobset", jobset={}).values["controller"]
        assert kueue["podSecurityContext"] == jobset["podSecurityContext"] == {"runAsUser": 65532}

    def test_kuberay_s_chart_gets_all_gates(self) -> None:
        gates = addon("ray", ray={"mode": "operator", "featureGates": {"RayCronJob": True}}, certManager={}).values[
            "featureGates"
        ]
        assert {gate["name"]: gate["enabled"] for gate in gates} == {
            **addon_catalogue().feature_gates["ray"],
            "RayCronJob": True,
        }

    def test_images_are_releases(self) -> None:
        for entry in OPERATORS.values():
            assert entry.image.tag == f"v{entry.chart.version}"

    def test_the_pinned_set_is_the_one_that_the_twin_runs(self) -> None:
        tools = yaml.safe_load(files("tpuplane_twin.tools").joinpath("tools.yaml").read_text(encoding="utf-8"))
        pinned = {source["name"]: source["version"] for source in tools["sources"]}
        charts = [operator.chart for operator in OPERATORS.values()]
        assert [f"v{chart.version}" for chart in charts] == [
            pinned[chart.name.removesuffix("-operator")] for chart in charts
        ]


class TestLaunchAgent:
    WHOLE: ClassVar[dict[str, Any]] = {
        "name": "lab",
        "project": "tpuplane-lab",
        "clusters": {
            "main": {
                "location": "us-central1",
                "addons": {
                    "kueue": {},
                    "launchAgent": {"queues": ["tpu"], "teams": ["research"], "entity": "acme", "maxJobs": 3},
                },
            }
        },
        "teams": {
            "research": {"namespaces": ["one", "two"], "clusters": {"main": {}}},
            "product": {"clusters": {"main": {}}},
        },
    }

    def test_it_gets_its_queues_and_never_its_key(self) -> None:
        found = addon_of(plan(parse_platform(self.WHOLE)).clusters[0], "launchAgent")
        assert found is not None
        config = yaml.safe_load(found.values["launchConfig"])
        assert config == {"queues": ["tpu"], "entity": "acme", "max_jobs": 3, "builder": {"type": "noop"}}
        assert found.values["agent"]["useExternalWandbSecret"] is True
        assert "apiKey" not in found.values["agent"]
        # The chart calls the Secret and the account after its release.
        assert (found.secret, found.probe) == (f"wandb-api-key-{found.chart.name}", None)
        assert found.values["additionalTargetNamespaces"] == []

    def test_it_works_for_its_teams_alone(self) -> None:
        queues = plan(parse_platform(self.WHOLE)).clusters[0].queues
        assert queues is not None
        launchers = {team.name: team.launcher for team in queues.teams}
        assert launchers["product"] is None
        assert launchers["research"] is not None
        assert launchers["research"].account == "wandb-launch-serviceaccount-launch-agent"

    def test_a_team_that_the_cluster_does_not_have_is_rejected(self) -> None:
        with pytest.raises(SpecError) as rejected:
            parse_platform({**self.WHOLE, "teams": {"product": {"clusters": {"main": {}}}}})
        (mistake,) = rejected.value.mistakes
        assert str(mistake) == (
            "clusters.main.addons.launchAgent.teams[0]: 'research' is not a team of the cluster; allowed: product"
        )


class TestRejections:
    @pytest.mark.parametrize(
        ("kueue", "line"),
        [
            (
                {"featureGates": {"TopologyAwareSheduling": True}},
                r"'TopologyAwareSheduling' is not a feature gate of release",
            ),
            (
                {"integrations": ["jobset.x-k8s.io/jobsets"]},
                r"'jobset.x-k8s.io/jobsets' is not a kind that Kueue can manage; allowed: .*; nearest: jobset\.x-k8s",
            ),
            ({"resources": {"limits": {"memory": "8 GB"}}}, r"limits\.memory: '8 GB' is not an amount of memory"),
            (
                {"waitForPodsReady": {"timeout": "ten minutes"}},
                r"timeout: 'ten minutes' is not a duration; allowed: numbers with units, such as 90s",
            ),
            ({"waitForPodsReady": {"timeout": "0h0m"}}, r"timeout: '0h0m' is not more than 0, as Kueue requires"),
            (
                {"waitForPodsReady": {"recoveryTimeout": "2562047h60m"}},
                r"recoveryTimeout: '2562047h60m' is longer than Kueue can count; allowed: at most 2562047h",
            ),
            ({"integrations": []}, r"integrations: is empty; allowed: batch/job, .*; or remove it for the default"),
            ({"integrations": ["pod", "pod"]}, r"integrations\[1\]: 'pod' is in the list twice"),
        ],
    )
    def test_in_one_line(self, kueue: dict[str, Any], line: str) -> None:
        with pytest.raises(SpecError) as rejected:
            cluster(kueue=kueue)
        (mistake,) = rejected.value.mistakes
        assert re.search(line, str(mistake))
        assert str(mistake).startswith("clusters.main.addons.kueue.")
