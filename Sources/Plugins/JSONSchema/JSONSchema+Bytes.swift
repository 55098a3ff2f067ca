public import ErrandJSONValidation

// The only code of this module that touches an address: it makes a span of it for the duration of a call.

extension JSONSchema {
    /// Validates bytes without copying them; see ``validate(_:limits:)``. They have to stay valid during the call.
    public func validate(bytes: UnsafeRawBufferPointer, limits: JSONLimits = .standard) throws(JSONValidationError) {
        if let error = unsafe bytes.withSpan({ program.validate($0, limits) }) { throw error }
    }
}
