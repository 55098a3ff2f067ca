public import Errand
import ErrandEssentials

extension ResponseCheck {
    /// Throws ``EnvelopeError`` if the envelope reports a failure, and `decodingFailed` if the response has no
    /// envelope. Use it as the ``Errand/Request/outcomeCheck`` of a request that decodes its own response.
    ///
    /// ```swift
    /// var outcomeCheck: ResponseCheck? { .envelope(Reply.self) }
    /// ```
    ///
    /// An empty body passes for HEAD and for the statuses 204, 205 and 304.
    ///
    /// - Parameters:
    ///   - type: the envelope's type.
    ///   - method: the request's method. Defaults to GET.
    public static func envelope<Envelope: ResponseEnvelope>(
        _ type: Envelope.Type, method: HTTPMethod = .get
    ) -> ResponseCheck {
        ResponseCheck("envelope") { response in
            let hasNone = method == .head || [204, 205, 304].contains(response.status)
            if hasNone, response.body.data?.isEmpty == true || response.body.length == 0 { return }
            guard let envelope: Envelope = try await response.envelope(), !envelope.isSuccess else { return }
            throw EnvelopeError(envelope, response: response)
        }
    }
}

/// The maximum size in bytes of a file to check for an envelope.
private let maximumFileBytes = 1 << 20

extension HTTPResponse {
    /// `nil` if the body is a stream, or a file that isn't JSON or exceeds the limit.
    fileprivate func envelope<Envelope: ResponseEnvelope>() async throws -> Envelope? {
        if body.data != nil { return try decoded(as: Envelope.self) }
        guard let file = body.file, let mediaType, ContentTypes.json.contains(mediaType),
            let length = body.length, length <= maximumFileBytes
        else { return nil }
        // Use a separate reader, to leave the body unread.
        var copy = self
        copy.body = HTTPBody(try await HTTPBody(file: file).collect(upTo: maximumFileBytes))
        return try? copy.decoded(as: Envelope.self)
    }

    /// Returns the model in an envelope, using the request's decoder. Throws `decodingFailed`.
    func content<Envelope: ResponseEnvelope, Value: Decodable>(of type: Envelope.Type) throws -> Value {
        if let optional = Value.self as? any ExpressibleByNilLiteral.Type, data.isEmpty,
            let none = optional.init(nilLiteral: ()) as? Value
        {
            return none
        }
        typealias Content = EnvelopeContent<Envelope, Value>
        do { return try decoded(as: Content.self).value } catch var error as ErrandError {
            error.message.replace(
                "\(Content.self) expected", with: "\(Value.self) expected in \(type)", maxReplacements: 1)
            throw error
        }
    }
}

/// The model of a success, decoded together with its envelope in one pass.
private struct EnvelopeContent<Envelope: ResponseEnvelope, Value: Decodable>: Decodable {
    let value: Value

    init(from decoder: any Decoder) throws {
        value = try Envelope(from: decoder).value(Value.self, from: decoder)
    }
}
