"""Answers written down by hand from Google's tables: what a slice is made of. The oracle of the catalogue."""

from __future__ import annotations

import pytest
from tpuplane.tpu import Slice

pytestmark = pytest.mark.unit

# generation, topology, machine type, chips, hosts, accelerator type, placement, chips per host, hosts as laid out
KNOWN = """
v3-device   2x2       ct3-hightpu-4t      4     1   v3-8           none             2,2,1  1,1,1
v3          4x4       ct3p-hightpu-4t    16     4   v3-32          compact          2,2,1  2,2,1
v3          4x8       ct3p-hightpu-4t    32     8   v3-64          compact          2,2,1  2,4,1
v3          16x16     ct3p-hightpu-4t   256    64   v3-512         compact          2,2,1  8,8,1
v3          32x32     ct3p-hightpu-4t  1024   256   v3-2048        compact          2,2,1  16,16,1
v4          2x2x1     ct4p-hightpu-4t     4     1   v4-8           none             2,2,1  1,1,1
v4          2x2x2     ct4p-hightpu-4t     8     2   v4-16          compact          2,2,1  1,1,2
v4          2x2x4     ct4p-hightpu-4t    16     4   v4-32          compact          2,2,1  1,1,4
v4          2x4x4     ct4p-hightpu-4t    32     8   v4-64          compact          2,2,1  1,2,4
v4          4x4x4     ct4p-hightpu-4t    64    16   v4-128         compact          2,2,1  2,2,4
v4          4x4x8     ct4p-hightpu-4t   128    32   v4-256         compact          2,2,1  2,2,8
v4          4x8x8     ct4p-hightpu-4t   256    64   v4-512         compact          2,2,1  2,4,8
v4          8x8x8     ct4p-hightpu-4t   512   128   v4-1024        compact          2,2,1  4,4,8
v4          8x8x12    ct4p-hightpu-4t   768   192   v4-1536        compact          2,2,1  4,4,12
v4          8x16x16   ct4p-hightpu-4t  2048   512   v4-4096        compact          2,2,1  4,8,16
v4          12x16x16  ct4p-hightpu-4t  3072   768   v4-6144        compact          2,2,1  6,8,16
v5e-device  1x1       ct5l-hightpu-1t     1     1   v5litepod-1    none             1,1,1  1,1,1
v5e-device  2x2       ct5l-hightpu-4t     4     1   v5litepod-4    none             2,2,1  1,1,1
v5e-device  2x4       ct5l-hightpu-8t     8     1   v5litepod-8    none             2,4,1  1,1,1
v5e         1x1       ct5lp-hightpu-1t    1     1   v5litepod-1    none             1,1,1  1,1,1
v5e         2x2       ct5lp-hightpu-4t    4     1   v5litepod-4    none             2,2,1  1,1,1
v5e         2x4       ct5lp-hightpu-4t    8     2   v5litepod-8    compact          2,2,1  1,2,1
v5e         2x4       ct5lp-hightpu-8t    8     1   v5litepod-8    none             2,4,1  1,1,1
v5e         4x4       ct5lp-hightpu-4t   16     4   v5litepod-16   compact          2,2,1  2,2,1
v5e         4x8       ct5lp-hightpu-4t   32     8   v5litepod-32   compact          2,2,1  2,4,1
v5e         8x8       ct5lp-hightpu-4t   64    16   v5litepod-64   compact          2,2,1  4,4,1
v5e         8x16      ct5lp-hightpu-4t  128    32   v5litepod-128  compact          2,2,1  4,8,1
v5e         16x16     ct5lp-hightpu-4t  256    64   v5litepod-256  compact          2,2,1  8,8,1
v5p         2x2x1     ct5p-hightpu-4t     4     1   v5p-8          none             2,2,1  1,1,1
v5p         2x2x2     ct5p-hightpu-4t     8     2   v5p-16         compact          2,2,1  1,1,2
v5p         2x2x4     ct5p-hightpu-4t    16     4   v5p-32         compact          2,2,1  1,1,4
v5p         2x4x4     ct5p-hightpu-4t    32     8   v5p-64         compact          2,2,1  1,2,4
v5p         4x4x4     ct5p-hightpu-4t    64    16   v5p-128        compact          2,2,1  2,2,4
v5p         4x4x8     ct5p-hightpu-4t   128    32   v5p-256        compact          2,2,1  2,2,8
v5p         4x4x12    ct5p-hightpu-4t   192    48   v5p-384        compact          2,2,1  2,2,12
v5p         4x8x8     ct5p-hightpu-4t   256    64   v5p-512        compact          2,2,1  2,4,8
v5p         8x8x8     ct5p-hightpu-4t   512   128   v5p-1024       compact          2,2,1  4,4,8
v5p         8x8x16    ct5p-hightpu-4t  1024   256   v5p-2048       compact          2,2,1  4,4,16
v5p         8x16x16   ct5p-hightpu-4t  2048   512   v5p-4096       compact          2,2,1  4,8,16
v5p         16x16x16  ct5p-hightpu-4t  4096  1024   v5p-8192       compact          2,2,1  8,8,16
v5p         16x16x24  ct5p-hightpu-4t  6144  1536   v5p-12288      compact          2,2,1  8,8,24
v6e         1x1       ct6e-standard-1t    1     1   v6e-1          none             1,1,1  1,1,1
v6e         2x2       ct6e-standard-4t    4     1   v6e-4          none             2,2,1  1,1,1
v6e         2x4       ct6e-standard-4t    8     2   v6e-8          compact          2,2,1  1,2,1
v6e         2x4       ct6e-standard-8t    8     1   v6e-8          none             2,4,1  1,1,1
v6e         4x4       ct6e-standard-4t   16     4   v6e-16         compact          2,2,1  2,2,1
v6e         4x8       ct6e-standard-4t   32     8   v6e-32         compact          2,2,1  2,4,1
v6e         8x8       ct6e-standard-4t   64    16   v6e-64         compact          2,2,1  4,4,1
v6e         8x16      ct6e-standard-4t  128    32   v6e-128        compact          2,2,1  4,8,1
v6e         16x16     ct6e-standard-4t  256    64   v6e-256        compact          2,2,1  8,8,1
tpu7x       1x1x1     tpu7x-standard-1t   1     1   tpu7x-2        none             1,1,1  1,1,1
tpu7x       2x2x1     tpu7x-standard-4t   4     1   tpu7x-8        none             2,2,1  1,1,1
tpu7x       2x2x2     tpu7x-standard-4t   8     2   tpu7x-16       workload-policy  2,2,1  1,1,2
tpu7x       2x2x4     tpu7x-standard-4t  16     4   tpu7x-32       workload-policy  2,2,1  1,1,4
tpu7x       2x4x4     tpu7x-standard-4t  32     8   tpu7x-64       workload-policy  2,2,1  1,2,4
tpu7x       4x4x4     tpu7x-standard-4t  64    16   tpu7x-128      workload-policy  2,2,1  2,2,4
tpu7x       4x4x8     tpu7x-standard-4t 128    32   tpu7x-256      workload-policy  2,2,1  2,2,8
tpu7x       4x8x8     tpu7x-standard-4t 256    64   tpu7x-512      workload-policy  2,2,1  2,4,8
tpu7x       8x8x8     tpu7x-standard-4t 512   128   tpu7x-1024     workload-policy  2,2,1  4,4,8
tpu7x       8x16x16   tpu7x-standard-4t 2048  512   tpu7x-4096     workload-policy  2,2,1  4,8,16
"""
ROWS = [line.split() for line in KNOWN.split("\n") if line]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(row[:3]))
def test_a_slice_is_made_of_what_the_tables_say(row: list[str]) -> None:
    generation, topology, machine, chips, hosts, name, placement, per_host, host_grid = row
    found = Slice.of(generation, topology, machine)
    assert found.machine.name == machine
    assert (found.chips, found.hosts) == (int(chips), int(hosts))
    assert found.multi_host is (hosts != "1")
    assert found.accelerator_type == name
    assert found.placement == placement
    assert found.chips_per_host_bounds == per_host
    assert found.host_bounds == host_grid
    assert str(found) == f"{generation} {topology}"


@pytest.mark.parametrize("row", [row for row in ROWS if not row[2].endswith("-8t")], ids=lambda row: "-".join(row[:2]))
def test_the_machine_type_may_be_left_out(row: list[str]) -> None:
    assert Slice.of(row[0], row[1]) == Slice.of(row[0], row[1], row[2])


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("trillium", "v6e"),
        ("tpu-v6e-slice", "v6e"),
        ("v5litepod", "v5e"),
        ("tpu-v5-lite-podslice", "v5e"),
        ("tpu-v5-lite-device", "v5e-device"),
        ("tpu-v5p-slice", "v5p"),
        ("tpu-v4-podslice", "v4"),
        ("ironwood", "tpu7x"),
        ("7x", "tpu7x"),
    ],
)
def test_other_names_of_a_generation(written: str, meant: str) -> None:
    topology = "2x2x1" if meant in {"v4", "v5p", "tpu7x"} else "2x2"
    assert Slice.of(written, topology) == Slice.of(meant, topology)


def test_labels_of_a_node() -> None:
    assert Slice.of("v5p", "2x2x4").node_labels == {
        "cloud.google.com/gke-tpu-accelerator": "tpu-v5p-slice",
        "cloud.google.com/gke-tpu-topology": "2x2x4",
        "cloud.google.com/gke-accelerator-count": "4",
    }


@pytest.mark.parametrize(("chips_per_node", "machine"), [(4, "ct6e-standard-4t"), (8, "ct6e-standard-8t")])
def test_the_chips_of_a_node_tell_two_machines_apart(chips_per_node: int, machine: str) -> None:
    assert Slice.for_nodes("tpu-v6e-slice", "2x4", chips_per_node=chips_per_node).machine.name == machine
