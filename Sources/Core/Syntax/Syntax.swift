// Start here: the grammar of bytes, URLs, and hosts, as values and pure functions.
//
// URLs/           references from outside, resolved according to the WHATWG standard
// International/  C code that uses libidn2, for internationalized hosts
// Fields/         fields of messages and connections: lists, parameters, media types, dates, `Retry-After`
