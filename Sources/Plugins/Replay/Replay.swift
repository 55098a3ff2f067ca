// Start here: ``ReplayTransport`` responds from an HTTP Archive, ``ReplayRecorder`` writes one.
//
// Matching/  which recorded exchange belongs to a request
// Reader/    the file: its index, and its entries and bodies as they are needed

// Who masks what is recorded masks other bodies as well.
@_exported public import ErrandRedaction
