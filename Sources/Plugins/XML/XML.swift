// Start here: conform a request to ``XMLRequest``. Use ``XMLEvents`` as its output to read a document of any length.
//
// Engine/  the parser: characters, names, entities, namespaces
