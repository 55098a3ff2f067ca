// Start here: ``ReplayTransport`` responds with the entries of an HTTP Archive. In its recording modes, it writes an
// archive.
//
// Matching/  finds the recorded exchange for a request
// Reader/    reads the file: first its index, and then entries and bodies on demand

// Apps that record also need to mask bodies.
@_exported public import ErrandRedaction
