// Start here: `filters: [.bodyCompression(.gzip)]` compresses request bodies.
//
// CShim/ calls into the codings' libraries
