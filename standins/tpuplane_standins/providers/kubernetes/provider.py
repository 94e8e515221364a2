# ruff: noqa: D102 - the methods are described by `Provider`
"""The provider: what the engine asks, about objects of one cluster."""

import threading
from collections.abc import Mapping
from typing import Any

from tpuplane_standins.providers.contract import Checked, Difference, Properties, ProviderError, Request, Urn
from tpuplane_standins.providers.kubernetes import settings, write
from tpuplane_standins.providers.kubernetes.cluster import Cluster, Operation
from tpuplane_standins.providers.kubernetes.construct.components import construct, invoke
from tpuplane_standins.providers.kubernetes.diff import difference
from tpuplane_standins.providers.kubernetes.inputs import check
from tpuplane_standins.providers.kubernetes.log import EngineLog, ResourceLog
from tpuplane_standins.providers.kubernetes.read import read
from tpuplane_standins.providers.kubernetes.settings import Settings
from tpuplane_standins.providers.server import Provider


class KubernetesProvider(Provider):
    """One provider process: configured once, then asked about many objects at the same time."""

    title = "Kubernetes"
    keeps_secrets = True

    def __init__(self) -> None:
        self._engine: EngineLog | None = None
        self._cancelled = threading.Event()
        self._configured: Cluster | None = None

    @property
    def _cluster(self) -> Cluster:
        if self._configured is None:
            raise ProviderError("the provider has not been configured")
        return self._configured

    @property
    def _log(self) -> EngineLog:
        if self._engine is None:
            raise ProviderError("the provider is attached to no engine")
        return self._engine

    def _operation(self, request: Request) -> Operation:
        return Operation(self._cluster, request, ResourceLog(self._log, request.urn.text))

    def attach(self, engine: str) -> None:
        self._engine = EngineLog(engine)

    def cancel(self) -> None:
        self._cancelled.set()

    def check_config(self, urn: Urn, news: Properties) -> Checked:
        return Checked(news, list(settings.rejections(news)))

    def diff_config(self, olds: Properties, news: Properties) -> Difference:
        return settings.diff(olds, news)

    def configure(self, args: Properties, variables: Mapping[str, str]) -> None:
        # A cluster that cannot be reached is an error only when it is needed.
        self._configured = Cluster(Settings.of(variables), self._cancelled)

    def invoke(self, token: str, args: Properties) -> Properties:
        return invoke(self._cluster, token, args)

    def construct(self, request: Any) -> Any:
        return construct(request, self._cluster, self.version, self._log)

    def check(self, request: Request) -> Checked:
        return Checked(check(self._operation(request)))

    def diff(self, request: Request) -> Difference:
        return difference(self._operation(request))

    def create(self, request: Request) -> tuple[str, Properties]:
        return write.create(self._operation(request))

    def read(self, request: Request) -> tuple[str, Properties, Properties]:
        return read(self._operation(request))

    def update(self, request: Request) -> Properties:
        return write.update(self._operation(request))

    def delete(self, request: Request) -> None:
        write.delete(self._operation(request))
