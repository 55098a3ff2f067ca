// Start here: values and pure functions for HTTP's less common fields, such as entity tags, ranges, and `Link`.
//
// Structured/  structured fields (RFC 9651)
