# ruff: noqa: D102 - the methods are described by `Provider`
"""The provider: what the engine asks, about objects of one cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import metadata
from typing import Any

from tpuplane_twin.providers.contract import (
    Autonaming,
    Checked,
    Difference,
    Properties,
    Provider,
    ProviderError,
    Urn,
)
from tpuplane_twin.providers.kubernetes import check, compare, create, invoke, lifecycle, settings
from tpuplane_twin.providers.kubernetes.api import Cancellation
from tpuplane_twin.providers.kubernetes.cluster import Cluster, Operation
from tpuplane_twin.providers.kubernetes.construct.components import construct
from tpuplane_twin.providers.kubernetes.log import EngineLog, ResourceLog
from tpuplane_twin.providers.kubernetes.settings import Settings


class KubernetesProvider(Provider):
    """One provider process: configured once, then asked about many objects at the same time."""

    title = "Kubernetes"
    keeps_secrets = True

    def __init__(self) -> None:
        self._engine: EngineLog | None = None
        self._cancellation = Cancellation()
        self._configured: Cluster | None = None

    @cached_property
    def version(self) -> str:
        return metadata.version("pulumi-kubernetes")

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

    def _operation(self, urn: Urn) -> Operation:
        return Operation(self._cluster, urn.text, ResourceLog(self._log, urn.text))

    def attach(self, engine: str) -> None:
        self._engine = EngineLog(engine)

    def cancel(self) -> None:
        self._cancellation.cancel()

    def check_config(self, urn: Urn, news: Properties) -> Checked:
        return Checked(news, settings.rejections(news))

    def diff_config(self, olds: Properties, news: Properties) -> Difference:
        return settings.diff(olds, news)

    def configure(self, args: Properties, variables: Mapping[str, str]) -> None:
        # A cluster that cannot be reached is an error only when it is needed.
        self._configured = Cluster(Settings.of(variables), self._cancellation)

    def invoke(self, token: str, args: Properties) -> Properties:
        return invoke.invoke(self._cluster, token, args)

    def construct(self, request: Any) -> Any:
        return construct(request, self._cluster, self.version, self._log)

    def check(
        self, urn: Urn, olds: Properties, news: Properties, seed: bytes, autonaming: Autonaming | None
    ) -> Checked:
        return Checked(check.check(self._operation(urn), olds, news, seed, autonaming))

    def diff(
        self, urn: Urn, resource_id: str, state: Properties, news: Properties, ignore: Sequence[str]
    ) -> Difference:
        return compare.compare(self._operation(urn), state, news, ignore)

    def create(self, urn: Urn, inputs: Properties, timeout: float, preview: bool) -> tuple[str, Properties]:
        return create.create(self._operation(urn), inputs, timeout, preview=preview)

    def read(
        self, urn: Urn, resource_id: str, inputs: Properties, state: Properties
    ) -> tuple[str, Properties, Properties]:
        return lifecycle.read(self._operation(urn), resource_id, state, inputs)

    def update(
        self,
        urn: Urn,
        resource_id: str,
        state: Properties,
        news: Properties,
        timeout: float,
        preview: bool,
        ignore: Sequence[str] = (),
    ) -> Properties:
        return lifecycle.update(self._operation(urn), state, news, timeout, ignore, preview=preview)

    def delete(self, urn: Urn, resource_id: str, state: Properties, timeout: float) -> None:
        lifecycle.delete(self._operation(urn), resource_id, state, timeout)
