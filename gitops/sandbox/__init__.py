"""A small, honest Gardener landscape that speaks the Kubernetes API.

It imports nothing of the pipeline and shares no merge, status or diff code with it. Where it disagrees with
the real control plane, it is wrong: tests/conformance asks both the same questions.

In process, on a virtual clock, without sockets or sleeping:

    landscape = Landscape(shoots, VirtualClock())           # shoots: manifests, may be partial
    garden = landscape.connect(landscape.garden_kubeconfig())
    answer = garden(Request("GET", "/apis/core.gardener.cloud/v1beta1/shoots"))
    # POST .../shoots/<name>/adminkubeconfig answers a kubeconfig; `connect` takes it:
    shoot = landscape.connect(kubeconfig)
    landscape.advance(60)                                   # gardenlet and agents do what is due
    landscape.faults.requests.append(RequestFault("TooManyRequests", {"verb": "patch"}, times=3))

A handler raises `UnreachableError` (a ConnectionError) where no server answers, and TimeoutError for a
black hole. A watch in process ends with what has already happened.

Over HTTP, for kubectl and people:

    with Server(Landscape(shoots, ScaledClock(60))) as server:
        server.garden_kubeconfig()                          # points at https://127.0.0.1:PORT/garden

How to read it, in an hour:
- `wire` (requests, failures), `store` (objects as bytes, one resourceVersion), `schema`;
- server-side apply: `typed`, `fieldsets`, `managed_fields`, `last_applied`; and `patches`, `decoding`,
  `validation`;
- what is served: `kinds`, `builtins`, `pods`, `shoots`, `shoot_defaults`, `crds`, `cluster`;
- how it is served: `api`, `access`, `reading`, `recognising`, `writing`, `patching`, `deleting`, `watching`,
  `discovery`, `tables`; over sockets: `server`, `certificates`;
- who lives there: `landscape`, `options`, `seeding`, `furnishing`, `nodes`, `gardenlet`, `agents`,
  `inside`, `faults`, `clock`.

What it leaves out:
- Kinds beyond those in `builtins` and CRDs; conversion webhooks (versions of a CRD differ in name only) and
  other webhooks; CEL beyond `self == 'A' || self == 'B'`; ratcheting; anyOf, oneOf and not in CRDs.
- RBAC: a token is an administrator, or a viewer who reads everything but Secrets. Objects of RBAC kinds do
  nothing.
- Controllers: no DaemonSets are rolled out, no garbage is collected (propagationPolicy is accepted and
  ignored), no pods run. Namespaces and CRDs take their content with them in the same request.
- managedFields: sets are not converted between API versions, and no entry is capped into ancient-changes.
- Built-in kinds are validated for what policies and tests need; their defaults are those of pods and
  DaemonSets.
- Shoots: credentials rotation, in-place updates, migration, DNS and exposure admission, most of validation.
  The maintenance window of a Shoot that names none follows from its name. Auto-enabled extensions get no
  label.
- Text of messages where Go prints maps in random order, and Go's own JSON parser's complaints.
- protobuf (so no imperative `kubectl create configmap`; `-f` works), aggregated discovery, OpenAPI v2 and
  descriptions in OpenAPI v3.
"""

from gitops.sandbox.clock import ScaledClock, VirtualClock
from gitops.sandbox.faults import Deletion, Faults, NodeFault, OperationFault, RequestFault
from gitops.sandbox.gardenlet import Pace
from gitops.sandbox.landscape import Handler, Landscape
from gitops.sandbox.options import POLICY_CRDS, Options
from gitops.sandbox.server import Server
from gitops.sandbox.wire import Request, Response, UnreachableError

__all__ = [
    "POLICY_CRDS",
    "Deletion",
    "Faults",
    "Handler",
    "Landscape",
    "NodeFault",
    "OperationFault",
    "Options",
    "Pace",
    "Request",
    "RequestFault",
    "Response",
    "ScaledClock",
    "Server",
    "UnreachableError",
    "VirtualClock",
]
