// Start here: the grammar that every message needs, as values and pure functions: bytes, URLs, hosts.
//
// URLs/           references from outside, resolved according to the WHATWG standard
// International/  C code that uses libidn2, for internationalized hosts
// Fields/         fields of messages and connections: lists, parameters, media types, dates, `Retry-After`
