public import ErrandEssentials

extension JSONShape {
    /// The shape of an example document.
    ///
    /// ```swift
    /// let shape = try JSONShape(example: Data(#"[{"id": 1, "name": "Ada"}]"#.utf8))   // [["id": .integer, "name": .string]]
    /// ```
    ///
    /// Objects are open and need all keys of the example. Elements of an array are put together into one shape: a key
    /// that not every object has is optional, integers beside other numbers are numbers, null beside something makes it
    /// nullable, and what does not go together is either of both. Where the example has only null, or an empty array,
    /// anything passes. A number is an integer if it is written without a fraction and an exponent.
    ///
    /// Throws ``JSONValidationError`` if the example is no JSON or beyond the standard limits.
    public init(example: Data) throws(JSONValidationError) {
        try JSONShape.any.validate(example)
        let sample = example.withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: UInt8.self) { text in
                guard let base = text.baseAddress else { return ExampleShape() }
                var reader = ExampleReader(p: base, end: base + text.count)
                return reader.read()
            }
        }
        self = sample.shape
    }
}
