// Start here: conform a request to ``UploadRequest``, and send it, or start it with `agent.upload(request)`.
//
// Protocol/ what requests and responses of each protocol say; pure
// Source/   the body, opened at an offset, and what tells it from another
// Engine/   an upload from its first request to its end: questions, parts, segments, retries
// Storage/  the record of an upload that is not finished

// The control, the events and the errors are those of both kinds of transfer.
@_exported public import ErrandTransfers
