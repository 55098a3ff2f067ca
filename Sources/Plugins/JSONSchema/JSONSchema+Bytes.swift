public import ErrandJSONValidation

// The only code in this module that touches an address. The span exists only during the call.

extension JSONSchema {
    /// Validates a JSON text without copying its bytes. The buffer must stay valid during the call. See
    /// ``validate(_:limits:)``.
    public func validate(bytes: UnsafeRawBufferPointer, limits: JSONLimits = .standard) throws(JSONValidationError) {
        if let error = unsafe bytes.withSpan({ program.validate($0, limits) }) { throw error }
    }
}
