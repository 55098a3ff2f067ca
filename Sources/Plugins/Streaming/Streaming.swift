// Start here: `agent.events(request)` for server-sent events; `agent.lines(…)`, `jsonLines(…)` and their like for elements.
//
// Events/   the event stream, its options and its reconnection
// Bodies/   a response's body as a sequence of elements
// Parsing/  lines, events and JSON values from chunks that are cut anywhere
