// Start here: ``ReplayTransport`` responds from an HTTP Archive; its recording modes write one.
//
// Matching/  finds the recorded exchange for a request
// Reader/    the file: its index, and entries and bodies on demand

// Apps that record also need to mask bodies.
@_exported public import ErrandRedaction
