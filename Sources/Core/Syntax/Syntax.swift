// Start here: the grammar that every message needs, as values and pure functions: bytes, URLs, hosts.
//
// URLs/           references from outside, resolved as the WHATWG standard does
// International/  the C of libidn2, for hosts in other scripts
// Fields/         fields of messages and connections: lists, parameters, media types, dates, `Retry-After`, `Alt-Svc`
