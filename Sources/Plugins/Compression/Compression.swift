// Start here: `filters: [.bodyCompression(.gzip)]` compresses what requests send.
//
// CShim/  the calls of the codings' libraries
