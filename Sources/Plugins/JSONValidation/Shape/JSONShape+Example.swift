public import ErrandEssentials

extension JSONShape {
    /// The shape of an example document.
    ///
    /// ```swift
    /// let shape = try JSONShape(example: Data(#"[{"id": 1, "name": "Ada"}]"#.utf8))   // [["id": .integer, "name": .string]]
    /// ```
    ///
    /// Objects are open and require all keys of the example. The elements of an array are merged into one shape: a key that
    /// some objects lack is optional, integers and other numbers become numbers, null makes a shape nullable, and
    /// different types become alternatives. Where the example has only null, or an empty array, any value fits. A number
    /// is an integer if it is written without a fraction and an exponent.
    ///
    /// Throws ``JSONValidationError`` if the example is not JSON or exceeds the standard limits.
    public init(example: Data) throws(JSONValidationError) {
        try JSONShape.any.validate(example)
        let sample = example.withSpan { text in
            var reader = ExampleReader(text)
            return reader.read(text)
        }
        self = sample.shape
    }
}
