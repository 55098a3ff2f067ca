// Start here: ``ReplayTransport`` responds from an HTTP Archive, ``ReplayRecorder`` writes one.
//
// Matching/  which recorded exchange belongs to a request
// Reader/    the file: its index, and its entries and bodies as they are needed
