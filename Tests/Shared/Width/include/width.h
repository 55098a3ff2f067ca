// Linking the target is enough; there are no functions to call.
