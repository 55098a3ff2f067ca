// Start here: what has nothing to do with HTTP.
//
// Files/  files, their locks and states
