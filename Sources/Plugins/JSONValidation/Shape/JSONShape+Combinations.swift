extension JSONShape {
    /// For the value of a key: the key may be missing or, unless `allowsNull` is false, null. It is what Swift decodes
    /// into an optional property. Anywhere else than under a key it means what `.nullable` means.
    public static func optional(_ shape: JSONShape, allowsNull: Bool = true) -> JSONShape {
        JSONShape(.optional(shape, allowsNull: allowsNull))
    }

    /// The shape or null; as the value of a key it must be there.
    public static func nullable(_ shape: JSONShape) -> JSONShape { JSONShape(.nullable(shape)) }

    /// One of several shapes: `.either(.integer, .string)`. Objects that differ by their contents work as well; they
    /// are told apart in the same pass. If none fits, the problems of the one that comes closest are reported.
    public static func either(_ shapes: JSONShape...) -> JSONShape { JSONShape(.either(shapes)) }

    /// One of several shapes that are computed.
    public static func either(_ shapes: [JSONShape]) -> JSONShape { JSONShape(.either(shapes)) }

    /// A shape with a check of one's own.
    ///
    /// ```swift
    /// .custom("an even number", of: .integer) { $0.integer?.isMultiple(of: 2) == true }
    /// ```
    ///
    /// - Parameters:
    ///   - expected: completes "expected …" in the message.
    ///   - shape: looked at first; the check sees only values that fit. Anything by default.
    ///   - passes: gets a copy of the value's bytes; throwing fails the check. May be called for a value that turns out
    ///     not to count, within `.either`.
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
    /// Use the parameter within the closure only: elsewhere it stands for a shape that nothing fits.
    public static func recursive(_ shape: (JSONShape) -> JSONShape) -> JSONShape {
        let reference = ShapeReference()
        return JSONShape(.recursive(reference, shape(JSONShape(.reference(reference)))))
    }
}
