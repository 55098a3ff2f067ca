// Start here: ``HTTPRequest`` is sent over the network, and ``HTTPResponse`` comes back.
//
// Message/     requests, responses, headers, statuses, types
// Charsets/    texts in other encodings than UTF-8
// Time/        clocks, and tasks that sleep until a cancellation
// Body/        bodies to send and to receive, and files to write
// Parameters/  parameters in a query, a form or JSON
// URLs/        base URLs, redirects, trusted origins
// Transfer/    tags, priorities, timings, progress
// Secrets/     masking in descriptions and logs, and the users of exchanges
// Errors/      ``ErrandError``, and protocols for the errors of plugins
