"""The programs that a twin runs, from a bundle, from releases or built from Go modules, in the user's cache.

>>> from tpuplane_twin import tools
>>> with tools.show() as progress:
...     found = tools.ensure(["etcd", "kueue"], progress)
>>> found.binary("etcd"), found.module("kueue") / "config"
"""

from tpuplane_twin.tools.addons import build_addon, ensure_everything
from tpuplane_twin.tools.catalogue import ToolError, catalogue
from tpuplane_twin.tools.install import Tools, ensure, write_bundle
from tpuplane_twin.tools.progress import show

__all__ = ["ToolError", "Tools", "build_addon", "catalogue", "ensure", "ensure_everything", "show", "write_bundle"]
