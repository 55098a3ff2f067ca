// Start here: conform a request to ``DownloadRequest``, and send it, or start it with `agent.download(request)`.
//
// Engine/   a download from its first attempt to its end: ranges, segments, retries, progress
// Storage/  the file that is not complete, with the sidecar that says which bytes are valid; the destination
// Digest/   checksums

// The control, the events and the errors are those of both kinds of transfer.
@_exported public import ErrandTransfers
