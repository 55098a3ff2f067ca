// Start here: conform a request to ``UploadRequest``, and send it, or start it with `agent.upload(request)`.
//
// Protocol/ builds requests and interprets responses of each protocol; pure
// Source/   opens the body at an offset, and identifies it
// Engine/   runs an upload: requests, parts, segments, retries
// Storage/  the record of an unfinished upload

// Controls, events, and errors are shared with downloads.
@_exported public import ErrandTransfers
