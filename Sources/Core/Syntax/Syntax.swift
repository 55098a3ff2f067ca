// Start here: the grammar that every message needs, as values and pure functions: bytes, URLs, hosts.
//
// Fields/  fields of messages and connections: lists, parameters, media types, dates, `Retry-After`, `Alt-Svc`
