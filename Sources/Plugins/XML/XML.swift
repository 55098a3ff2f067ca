// Start here: conform a request to ``XMLRequest``; ``XMLEvents`` as an output reads a document of any length.
//
// Engine/  the parser: characters, names, entities, namespaces
