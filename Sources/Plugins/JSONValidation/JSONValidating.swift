public import Errand
public import ErrandEssentials

/// A description of JSON texts that they are validated against: a ``JSONShape``, or a `JSONSchema` of
/// ErrandJSONSchema.
public protocol JSONValidating: Sendable {
    /// Validates a JSON text, and throws its problems, up to a limit.
    func validate(_ data: Data, limits: JSONLimits) throws(JSONValidationError)
}

extension JSONShape: JSONValidating {}

extension ResponseCheck {
    /// Rejects a response whose body does not have a shape; needs no filter.
    ///
    /// ```swift
    /// var checks: [ResponseCheck] { [.json(["id": .integer])] }
    /// ```
    ///
    /// Throws an `ErrandError` with the code `checkFailed`, the response, and a ``JSONValidationError`` as `underlying`. An
    /// empty body is accepted only where a body is impossible: for HEAD and for the statuses 204, 205 and 304 (RFC 9110,
    /// sections 9.3.2, 15.3.5, 15.3.6 and 15.4.5). A body that was delivered into a file is read from there, within the
    /// limits; a stream is rejected, because the check would consume it.
    ///
    /// - Parameters:
    ///   - shape: the shape of the body.
    ///   - method: the method of the request, which determines whether a body is possible; GET by default.
    ///   - limits: the limits of the bodies that it accepts.
    public static func json(
        _ shape: JSONShape, method: HTTPMethod = .get, limits: JSONLimits = .standard
    ) -> ResponseCheck {
        json(validating: shape, method, limits)
    }

    /// Rejects a response whose body does not fit a `JSONSchema` of ErrandJSONSchema, or another thing to validate against;
    /// see ``json(_:method:limits:)``.
    public static func json(
        _ validator: some JSONValidating, method: HTTPMethod = .get, limits: JSONLimits = .standard
    ) -> ResponseCheck {
        json(validating: validator, method, limits)
    }

    private static func json(validating shape: some JSONValidating, _ method: HTTPMethod, _ limits: JSONLimits)
        -> ResponseCheck
    {
        ResponseCheck("json") { response in
            let hasNone = method == .head || [204, 205, 304].contains(response.status)
            if hasNone, response.body.data?.isEmpty == true || response.body.length == 0 { return }
            do {
                try shape.validate(try await bytes(of: response, limits), limits: limits)
            } catch let error as JSONValidationError {
                throw ErrandError(.checkFailed, error.description, response: response, underlying: error)
            }
        }
    }

    private static func bytes(of response: HTTPResponse, _ limits: JSONLimits) async throws -> Data {
        if let data = response.body.data { return data }
        guard let file = response.body.file else {
            throw ErrandError(
                .checkFailed, "a streamed body cannot be validated; request its delivery as data", response: response)
        }
        // A separate reader, so that the body can still be read.
        return try await HTTPBody(file: file).collect(upTo: limits.maximumBytes)
    }
}
