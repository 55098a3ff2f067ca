// Start here: conform a request to ``DownloadRequest``, and send it, or start it with `agent.download(request)`.
//
// Engine/   runs a download: ranges, segments, retries, progress
// Storage/  the partial file, the file that records its valid bytes (sidecar), the destination
// Digest/   checksums

// Controls, events, and errors are shared with uploads.
@_exported public import ErrandTransfers
