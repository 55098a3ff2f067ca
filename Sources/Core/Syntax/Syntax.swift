// Start here: the grammar of HTTP and JSON as values and pure functions.
//
// Fields/      fields: dates, entity tags, ranges, media types, `Link`, `Retry-After` …
// Structured/  structured fields (RFC 9651)
// JSON/        the tokens of JSON
