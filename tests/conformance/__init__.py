"""The sandbox and the real control plane, asked the same questions.

`cases/*.yaml` hold stories: requests in order, and what the control plane answers to those that carry `see`.
Both servers must give that answer. What no two servers share (uids, times, resourceVersions) is blotted out.

    - case: what the story shows
      steps:
      - APPLY cm/a?fieldManager=one: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: "1"}}
      - GET cm/a: null
        see: [data, metadata.managedFields]      # or `true`: everything but managedFields
        answer: ...                              # recorded: SHOOT_GITOPS_CONFORMANCE=record pytest …

A step without `see` must succeed. `RV` and `UID` stand for the last answer's resourceVersion and uid, `RV0`
for the resourceVersion of the first answer, `CONTINUE` for the last page's token, `NS` for the story's
namespace.
"""
