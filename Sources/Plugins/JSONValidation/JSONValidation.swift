// Start here: conform a request to ``JSONValidatedRequest`` and describe its response with a ``JSONShape``.
//
// Shape/    shapes, the types that users write
// Engine/   compiled shapes, and the validator that reads the text once
// Pattern/  ECMA-262 regular expressions
// Common/   code shared with JSON Schema
