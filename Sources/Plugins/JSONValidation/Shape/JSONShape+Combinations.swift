extension JSONShape {
    /// For the value of a key: the key may be missing or, unless `allowsNull` is false, null, like an optional property that
    /// Swift decodes. Outside of an object it is the same as `.nullable`.
    public static func optional(_ shape: JSONShape, allowsNull: Bool = true) -> JSONShape {
        JSONShape(.optional(shape, allowsNull: allowsNull))
    }

    /// The shape or null. As the value of a key it must not be missing.
    public static func nullable(_ shape: JSONShape) -> JSONShape { JSONShape(.nullable(shape)) }

    /// One of several shapes: `.either(.integer, .string)`. Objects that differ by their contents are distinguished in the
    /// same pass. If none fits, the problems of the closest one are reported.
    public static func either(_ shapes: JSONShape...) -> JSONShape { JSONShape(.either(shapes)) }

    /// One of several shapes in an array.
    public static func either(_ shapes: [JSONShape]) -> JSONShape { JSONShape(.either(shapes)) }

    /// A shape with a custom check.
    ///
    /// ```swift
    /// .custom("an even number", of: .integer) { $0.integer?.isMultiple(of: 2) == true }
    /// ```
    ///
    /// - Parameters:
    ///   - expected: completes "expected …" in the message.
    ///   - shape: validated first; the check receives only values that fit. `.any` by default.
    ///   - passes: receives a copy of the value's bytes; an error fails the check. Within `.either` it may be called for an
    ///     alternative that does not apply.
    public static func custom(
        _ expected: String, of shape: JSONShape = .any, _ passes: @escaping @Sendable (JSONFragment) throws -> Bool
    ) -> JSONShape {
        JSONShape(.custom(shape, JSONCheck(expected: expected, passes: passes)))
    }

    /// A shape that contains itself, such as a tree.
    ///
    /// ```swift
    /// let tree = JSONShape.recursive { tree in ["name": .string, "children": .array(of: tree)] }
    /// ```
    ///
    /// Use the parameter within the closure only: elsewhere no value fits it.
    public static func recursive(_ shape: (JSONShape) -> JSONShape) -> JSONShape {
        let reference = ShapeReference()
        return JSONShape(.recursive(reference, shape(JSONShape(.reference(reference)))))
    }
}
