// Start here: ``HTTPRequest`` is sent over the wire, and ``HTTPResponse`` comes back.
//
// Message/     requests, responses, headers, statuses, types
// Body/        bodies that are sent and received, and files that are written
// Parameters/  parameters in a query, a form or JSON
// URLs/        base URLs, redirects, trusted origins
// Transfer/    tags, priorities, timings, progress
// Secrets/     what descriptions and logs mask; whose an exchange is
// Errors/      ``ErrandError``, and what errors of plugins have in common
