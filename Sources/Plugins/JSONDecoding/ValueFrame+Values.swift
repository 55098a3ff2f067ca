import ErrandEssentials

// Values of any type.
extension ValueFrame {
    /// A value: of a type that is read without its `init(from:)`, or what that returns.
    ///
    /// - Parameter step: the step from this frame; nil for the value of this frame itself.
    func value<Value: Decodable>(_ type: Value.Type, at position: Int, _ step: Step?) throws -> Value {
        if let direct = type as? any DirectlyDecodable.Type {
            return try direct.value(as: type, of: self, at: position, step)
        }
        return try scoped(at: position, step) { try Value(from: $0) }
    }
}
