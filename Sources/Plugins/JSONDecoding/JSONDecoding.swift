// Start here: ``FastJSONDecoder`` replaces `JSONDecoder`.
