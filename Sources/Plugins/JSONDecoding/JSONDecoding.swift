// Start here: ``FastJSONDecoder`` takes the place of `JSONDecoder`.
