// Start here: code that is independent of HTTP.
//
// Files/  files, their locks and states
