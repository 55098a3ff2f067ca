// Start here: what has nothing to do with HTTP.
//
// Files/    files, their locks and states
// Codings/  the C module of gzip, Brotli and zstd, which several plugins share
