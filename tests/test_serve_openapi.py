"""Whatever the interface allows, and much that it does not, is answered without a defect."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from pairgram.serve.served import Holder
from serving import TOKEN, get, running, save_world

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)

TAKING = {
    "/suggest", "/explain", "/add", "/embed", "/score", "/nodes", "/nodes/{node}", "/map/nodes",
}  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = save_world(tmp_path_factory.mktemp("openapi") / "model")
    with running(Holder(folder)) as server:
        yield server


def operations():
    return [
        ("POST", "/suggest"), ("POST", "/explain"), ("POST", "/add"), ("POST", "/embed"),
        ("POST", "/score"), ("GET", "/nodes"),
        ("GET", "/nodes/{node}"), ("GET", "/map"), ("GET", "/map/nodes"), ("GET", "/map/points"),
        ("POST", "/reload"), ("GET", "/model"), ("GET", "/health"), ("GET", "/metrics"),
    ]  # fmt: skip


def test_every_operation_is_tried(server):
    schema = get(server.port, "/openapi.json")[1]
    stated = {(m.upper(), path) for path, one in schema["paths"].items() for m in one}
    assert stated == set(operations())


def tries():
    """Operations with good values, and those that take some with bad ones."""
    good = [(*one, "POSITIVE") for one in operations()]
    return good + [(*one, "NEGATIVE") for one in operations() if one[1] in TAKING]


@pytest.mark.parametrize(("method", "path", "mode"), tries())
def test_no_request_is_a_defect(server, method, path, mode):
    # It takes seconds to import, in every process that looks at this file.
    import schemathesis
    from schemathesis import checks

    schema = schemathesis.openapi.from_url(f"{server.address}/openapi.json")
    operation, seen = schema[path][method], set()
    generated = operation.as_strategy(generation_mode=schemathesis.GenerationMode[mode])
    wanted = [getattr(checks, name) for name in CHECKS]

    @settings(
        max_examples=15 if path in TAKING else 2,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=generated)
    def tried(case):
        answer = case.call_and_validate(
            checks=wanted, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=20
        )
        seen.add(answer.status_code)

    tried()
    assert seen <= {200, 400, 404, 405, 409, 413, 422}
    assert get(server.port, "/health")[0] == 200
