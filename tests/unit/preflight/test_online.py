"""What a Google Cloud project lacks of what a file needs, through Google's own client library, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tpuplane.preflight import Finding, Google, Unreachable
from tpuplane.preflight.findings import asked

from tests.support.preflight.google_cloud import SERVICES, TESTED, Server, metric, quota
from tests.support.preflight.lab import ANSWERS, NIGHTLY, SHARED, compared

pytestmark = pytest.mark.unit

GRANT = "grant the caller the permissions that this command lists: tpuplane check FILE --role"
ACCESS = "correct its id, or ask for access to it"
PAGE = "compare it in Google's console, or update tpuplane"
POOL = "clusters.main.systemPool"
FORM = "Google's answer has an unknown form ("


def lines(**changes: Any) -> list[str]:
    return [str(finding) for finding in compared(**changes).findings]


def limits(*buckets: dict[str, Any]) -> dict[str, Any]:
    return {"consumerQuotaLimits": [{"unit": "1/{project}/{region}", "quotaBuckets": list(buckets)}]}


def pools(**own: Any) -> dict[str, Any]:
    """A cluster with pools, and nothing declared."""
    return {"clusters": {"main": {"location": "us-central1", **own}}, "quotas": {}, "reservations": {}}


@pytest.mark.usefixtures("google")
def test_what_google_has_as_declared_is_right() -> None:
    found = compared()
    assert found.findings == ()
    assert found.compared == {"APIs": 5, "permissions": 37, "quotas": 3, "reservations": 2, "names": 5}


def test_every_difference_of_reservations_and_quota_is_named(google: Server) -> None:
    google.answers[NIGHTLY]["status"] = "CREATING"
    google.answers[NIGHTLY]["specificReservation"] = {
        "count": "4",
        "instanceProperties": {"machineType": "ct6e-standard-8t"},
    }
    google.answers[SHARED]["shareSettings"] = {"shareType": "LOCAL"}
    google.answers[SHARED]["aggregateReservation"]["vmFamily"] = "VM_FAMILY_CLOUD_TPU_LITE_POD_SLICE_CT6E"
    google.answers[quota("tpu_lite_podslice_v5")] = metric("tpu_lite_podslice_v5", us_central1=16)
    google.answers[quota("preemptible_tpu_lite_podslice_v5")]["consumerQuotaLimits"][0]["quotaBuckets"] = [{}]
    create = "run: gcloud beta quotas preferences create --service=compute.googleapis.com --project=tpuplane-lab"
    correct = "correct it: gcloud compute reservations list --project"
    assert lines() == [
        "quotas.us-central1.v5e.onDemand: 128 on-demand chips of v5e, but Google grants 16 in region=us-central1 "
        f"(tpu_lite_podslice_v5); {create} --quota-id=TPU-LITE-PODSLICE-V5-per-project-region --preferred-value=128 "
        "--dimensions=region=us-central1 --email=ADDRESS",
        "quotas.us-central1.v5e.preemptible: 64 preemptible chips of v5e, but Google grants 0 in region=us-central1 "
        f"(preemptible_tpu_lite_podslice_v5); {create} --quota-id=PREEMPTIBLE-TPU-LITE-PODSLICE-V5-per-project-region "
        "--preferred-value=64 --dimensions=region=us-central1 --email=ADDRESS",
        "reservations.nightly.active: true, but Compute Engine reports CREATING; set it to false until it is READY",
        "reservations.nightly.machineType: 'ct6e-standard-4t', but Compute Engine has ct6e-standard-8t; "
        f"{correct}=tpuplane-lab",
        "reservations.nightly.chips: 64, but Compute Engine has 32; allowed: at most 32",
        "reservations.shared.project: 'tpu-bank' does not share it with tpuplane-lab; ask the owner to run: gcloud "
        "compute reservations update shared --project=tpu-bank --zone=us-east5-a --add-share-with=tpuplane-lab",
        f"reservations.shared.generation: 'v5p', but Compute Engine has v6e; {correct}=tpu-bank",
    ]


def test_a_reservation_that_is_not_there_or_holds_no_tpus(google: Server) -> None:
    google.answers[NIGHTLY] = 404
    google.answers[SHARED] |= {
        "aggregateReservation": None,
        "specificReservation": {"count": "1", "instanceProperties": {"machineType": "n2-standard-4"}},
    }
    listed = "gcloud compute reservations list --project"
    assert lines() == [
        "reservations.nightly: not found in project tpuplane-lab, zone us-central1-b; "
        f"correct it: {listed}=tpuplane-lab",
        f"reservations.shared.generation: 'v5p', but Compute Engine has no TPUs in it; correct it: {listed}=tpu-bank",
    ]


def test_apis_that_are_not_enabled_are_named_and_not_asked(google: Server) -> None:
    google.disabled = {"compute.googleapis.com", "container.googleapis.com"}
    google.answers |= {NIGHTLY: 403, SHARED: 403}
    found = compared()
    assert [str(finding) for finding in found.findings] == [
        f"project: {api} is not enabled in project tpuplane-lab; "
        f"run: gcloud services enable {api} --project=tpuplane-lab"
        for api in ("compute.googleapis.com", "container.googleapis.com")
    ]
    assert found.compared == {"APIs": 5, "permissions": 37, "names": 1}


def test_permissions_that_the_caller_lacks_are_named_by_what_they_are_for(google: Server) -> None:
    google.denied = {"container.clusters.update", "iam.serviceAccounts.actAs", "compute.reservations.get"}
    remedy = (
        "run: tpuplane check FILE --role > role.json && "
        "gcloud iam roles update tpuplaneDeployer --project=tpuplane-lab --file=role.json"
    )
    missing = "container.clusters.update, iam.serviceAccounts.actAs"
    assert lines() == [
        f"project: the caller lacks {what} in project tpuplane-lab ({users}); {remedy}"
        for what, users in (
            (missing, "Cluster of lab-main"),
            (missing, "NodePool of lab-main"),
            ("compute.reservations.get", "check of lab"),
        )
    ]


def test_pools_need_quota_at_full_scale_in_their_region_and_zone(google: Server) -> None:
    trainer = {"generation": "v6e", "topology": "4x4", "zone": "us-central1-b", "autoscaling": {"maxSlices": 3}}
    spot = {"generation": "v5p", "topology": "2x2x2", "zone": "us-central1-a", "capacity": "spot"}
    family = metric("tpus_per_tpu_family", "1/{project}/{region}/{tpu_family}")
    buckets = family["consumerQuotaLimits"][0]["quotaBuckets"]
    buckets += [
        {"effectiveLimit": "1000", "dimensions": {"tpu_family": "CT6E"}},
        {"effectiveLimit": "47", "dimensions": {"region": "us-central1", "tpu_family": "CT6E"}},
        {"effectiveLimit": "1", "dimensions": {"region": "us-central1", "tpu_family": "CT3P"}},
    ]
    zonal = metric("preemptible_tpu_v5p", "1/{project}/{zone}", us_central1_a=4)
    google.answers |= {quota("tpus_per_tpu_family"): family, quota("preemptible_tpu_v5p"): zonal}
    google.answers[quota("cpus")] = metric("cpus", us_central1=24)
    found = compared(**pools(pools={"trainer": trainer, "spot": spot})).findings
    assert [
        (".".join(map(str, finding.path)), finding.message, finding.remedy.split(" --")[3:]) for finding in found
    ] == [
        (
            "clusters.main.pools.trainer",
            "48 on-demand chips of v6e, but Google grants 47 in region=us-central1,tpu_family=CT6E "
            "(tpus_per_tpu_family)",
            [
                "quota-id=TPUS-PER-TPU-FAMILY-per-project-region",
                "preferred-value=48",
                "dimensions=region=us-central1,tpu_family=CT6E",
                "email=ADDRESS",
            ],
        ),
        (
            "clusters.main.pools.spot",
            "8 preemptible chips of v5p, but Google grants 4 in zone=us-central1-a (preemptible_tpu_v5p)",
            [
                "quota-id=PREEMPTIBLE-TPU-V5P-per-project-zone",
                "preferred-value=8",
                "dimensions=zone=us-central1-a",
                "email=ADDRESS",
            ],
        ),
        (
            "clusters.main.systemPool",
            "36 vCPUs of e2, but Google grants 24 in region=us-central1 (cpus)",
            [
                "quota-id=CPUS-per-project-region",
                "preferred-value=36",
                "dimensions=region=us-central1",
                "email=ADDRESS",
            ],
        ),
    ]


def test_hardware_without_a_known_quota_is_undecided_until_it_is_declared(google: Server) -> None:
    device = {"generation": "v3-device", "topology": "2x2", "zone": "us-east1-d", "capacity": "spot"}
    europe = pools(pools={"old": device}) | {"clusters": {"main": {"location": "us-east1", "pools": {"old": device}}}}
    assert lines(**europe) == [
        "clusters.main.pools.old: not checked: no quota is known for preemptible chips of v3-device; "
        "compare it with Google's quota page, then declare quotas.us-east1.v3-device.preemptible"
    ]
    assert lines(**europe | {"quotas": {"us-east1": {"v3-device": {"preemptible": 4}}}}) == []


def test_machine_families_and_gpus_without_a_metric_of_their_own_count_by_family(google: Server) -> None:
    family = metric("gpus_per_gpu_family", "1/{project}/{region}/{gpu_family}", NVIDIA_H100=8)
    family["consumerQuotaLimits"][0]["quotaBuckets"][1]["dimensions"] = {"gpu_family": "NVIDIA_H100"}
    cpus = metric("cpus_per_vm_family", "1/{project}/{region}/{vm_family}", C4=1)
    google.answers |= {quota("gpus_per_gpu_family"): family, quota("cpus_per_vm_family"): cpus}
    h100 = {"machineType": "a3-highgpu-8g", "zones": ["us-central1-a"], "nodes": 2}
    found = compared(**pools(gpuPools={"h100": h100}, systemPool={"machineType": "c4-standard-8"})).findings
    assert [finding.message for finding in found] == [
        "16 on-demand GPUs of nvidia-h100-80gb, but Google grants 8 in gpu_family=NVIDIA_H100,region=us-central1 "
        "(gpus_per_gpu_family)",
        "72 vCPUs of c4, but Google grants 1 in region=us-central1,vm_family=C4 (cpus_per_vm_family)",
    ]


def test_the_name_of_a_subnetwork_for_proxies_is_asked_too(google: Server) -> None:
    subnetwork = "projects/tpuplane-lab/regions/us-central1/subnetworks/lab-main-proxies"
    google.answers[f"compute/v1/{subnetwork}"] = {"name": "lab-main-proxies"}
    proxies = {"clusters": {"main": {"location": "us-central1", "network": {"proxiesCidr": "10.1.0.0/23"}}}}
    (line,) = lines(**proxies)
    assert line.startswith("clusters.main: subnetwork lab-main-proxies already exists in project tpuplane-lab; ")


def test_names_that_are_taken_unless_the_stack_owns_them(google: Server) -> None:
    network = "projects/tpuplane-lab/global/networks/lab"
    cluster = "projects/tpuplane-lab/locations/us-central1/clusters/lab-main"
    google.answers |= {f"compute/v1/{network}": {"name": "lab"}, f"v1/{cluster}": {"name": "lab-main"}}
    remedy = "choose another name; if your stack created it, add --deployed STACK"
    assert lines() == [
        f"name: network lab already exists in project tpuplane-lab; {remedy}",
        f"clusters.main: cluster lab-main already exists in project tpuplane-lab; {remedy}",
    ]
    assert compared(own=(network, cluster)).findings == ()
    del google.answers[f"compute/v1/{network}"], google.answers[f"v1/{cluster}"]
    in_state = "is in the state of the stack, but does not exist in project tpuplane-lab; run: "
    assert lines(own=(network, cluster)) == [
        f"name: network lab {in_state}pulumi refresh --stack dev, then: pulumi up --stack dev",
        f"clusters.main: cluster lab-main {in_state}PULUMI_K8S_DELETE_UNREACHABLE=true pulumi refresh --stack dev, "
        'then: pulumi up --stack dev; see "Recover from a deleted cluster" in docs/errors.md',
    ]


@pytest.mark.parametrize(
    ("service", "api", "instance"),
    [
        ("filestore", "file", {"location": "us-central1-b", "tier": "ZONAL", "capacityGib": 1024}),
        ("lustre", "lustre", {"zone": "us-central1-b", "capacityGib": 36000, "throughput": 500}),
    ],
)
def test_a_file_system_that_an_interrupted_update_created_is_named(
    service: str, api: str, instance: dict[str, Any], google: Server
) -> None:
    name = "projects/tpuplane-lab/locations/us-central1-b/instances/lab-home"
    google.answers[f"{api}/v1/{name}"] = {"name": name}
    pool = {"generation": "v6e", "topology": "4x4", "zone": "us-central1-b"}
    cluster = {"location": "us-central1", "addons": {"kueue": {}, "jobset": {}}, "storage": {service: True}}
    resource = {"urn": "urn:pulumi:dev::lab::gcp:some/instance:Instance::home", "inputs": {"name": "lab-home"}}
    pending = {"type": "creating", "resource": resource}
    found = compared(
        state={"resources": [], "pending_operations": [pending]},
        storage={service: {"home": {**instance, "writers": ["research"]}}},
        teams={"research": {"clusters": {"main": {"pools": {"trainer": {"slices": 1}}}}}},
        clusters={"main": {**cluster, "pools": {"trainer": pool}}},
    )
    assert (
        "name: instance lab-home exists, but an interrupted update did not record it, so the next update fails with "
        f"409; if the stack created it, run: gcloud {service} instances delete lab-home --location=us-central1-b "
        "--project=tpuplane-lab --quiet"
    ) in map(str, found.findings)


@pytest.mark.parametrize(
    ("path", "answer", "at", "reason", "remedy"),
    [
        (NIGHTLY, 403, "reservations.nightly", "Google answers 403: rejected with 403", GRANT),
        (TESTED, 403, "project", "Google answers 403: rejected with 403", GRANT),
        (TESTED, 404, "project", "Google finds no project tpuplane-lab", ACCESS),
        (TESTED, {"permissions": 1}, "project", FORM, PAGE),
        (SERVICES, {"services": [{"name": "a", "state": "ENABLED"}]}, "project", FORM, PAGE),
        (SERVICES, {"services": [{"name": "a"}]}, "project", FORM, PAGE),
        (SERVICES, {}, "project", FORM, PAGE),
        (quota("cpus"), 403, POOL, "Google answers 403: rejected with 403", GRANT),
        (quota("cpus"), 404, POOL, f"{FORM}ValueError: no quota cpus", PAGE),
        (quota("cpus"), "<html>", POOL, FORM, PAGE),
        (quota("cpus"), [], POOL, FORM, PAGE),
        (quota("cpus"), {"metric": "cpus"}, POOL, FORM, PAGE),
        (quota("cpus"), {"consumerQuotaLimits": []}, POOL, f"{FORM}ValueError: no quota cpus", PAGE),
        (quota("cpus"), metric("cpus", "1/{project}/{cell}"), POOL, f"{FORM}KeyError: 'cell'", PAGE),
        (
            quota("cpus"),
            limits({"effectiveLimit": "9", "soft": True}),
            POOL,
            f"{FORM}ValueError: ['soft'] in a quota",
            PAGE,
        ),
        (quota("cpus"), limits({"effectiveLimit": "many"}), POOL, FORM, PAGE),
        (quota("cpus"), limits(), POOL, FORM, PAGE),
        (quota("cpus"), limits({"effectiveLimit": "9", "dimensions": {"region": "us-east1"}}), POOL, FORM, PAGE),
        (NIGHTLY, {"name": "nightly"}, "reservations.nightly", FORM, PAGE),
        (NIGHTLY, {"status": "READY", "specificReservation": {"count": "8"}}, "reservations.nightly", FORM, PAGE),
        (SHARED, ANSWERS[SHARED] | {"shareSettings": {"shareType": "FOLDERS"}}, "reservations.shared", FORM, PAGE),
    ],
)
def test_what_google_does_not_answer_is_undecided(
    google: Server, path: str, answer: Any, at: str, reason: str, remedy: str
) -> None:
    google.answers[path] = answer
    found = compared()
    (finding,) = found.findings
    assert str(finding).startswith(f"{at}: not checked: {reason}")
    assert (finding.remedy, finding.undecided, found.undecided) == (remedy, True, True)


def test_an_error_of_this_program_is_no_answer_of_google() -> None:
    def broken() -> Iterator[Finding]:
        yield Finding("quota", (), "one", "")
        raise KeyError("own")

    findings = asked("quota", (), GRANT, broken())
    assert next(findings).message == "one"
    with pytest.raises(KeyError, match="own"):
        next(findings)


def test_without_a_project_no_api_is_known(google: Server) -> None:
    google.answers[SERVICES] = 404
    (finding,) = compared().findings
    assert finding.message == "Google finds no project tpuplane-lab"


def test_service_usage_is_the_first_api_to_enable(google: Server) -> None:
    google.answers[SERVICES] = 403
    (finding,) = compared().findings
    assert finding.remedy.startswith("run: gcloud services enable serviceusage.googleapis.com --project=tpuplane-lab")


def test_without_credentials_it_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GOOGLE_OAUTH_ACCESS_TOKEN", raising=False)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
    with pytest.raises(Unreachable, match="gcloud auth application-default login"):
        Google()


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/serviceusage/v1beta1/", "http://no.such.host.invalid/v1/"])
def test_without_a_network_it_is_one_message(google: Server, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)  # the client library waits before it asks again
    monkeypatch.setenv("GOOGLE_SERVICE_USAGE_CUSTOM_ENDPOINT", address)
    with pytest.raises(Unreachable, match=r"^Google does not answer: .*; check the network and the proxy$"):
        compared()


def test_an_answer_that_ends_too_early_is_one_message(google: Server) -> None:
    google.cut = 3
    with pytest.raises(Unreachable, match=r"^Google does not answer: IncompleteRead.*; check the network"):
        compared()
