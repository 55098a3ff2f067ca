// Start here: `agent.events(request)` for server-sent events; `agent.lines(…)`, `jsonLines(…)` and so on for elements.
//
// Events/   event streams, their options, and reconnection
// Bodies/   response bodies as sequences of elements
// Parsing/  finds lines, events, and JSON values in arbitrary chunks

// Reconnection options contain types of `ErrandBackoff`.
@_exported public import ErrandBackoff
