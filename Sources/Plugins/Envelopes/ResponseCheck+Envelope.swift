public import Errand
import ErrandEssentials

extension ResponseCheck {
    /// Throws ``EnvelopeError`` for a response whose envelope reports a failure, and `decodingFailed` for one that has none; for
    /// the ``Errand/Request/outcomeCheck`` of a request that decodes its response itself.
    ///
    /// ```swift
    /// var outcomeCheck: ResponseCheck? { .envelope(Reply.self) }
    /// ```
    ///
    /// An empty body passes where there can be none: for HEAD, and for the statuses 204, 205 and 304.
    ///
    /// - Parameters:
    ///   - type: the envelope.
    ///   - method: of the request; GET by default.
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

/// The longest envelope that is looked for in a file.
private let maximumFileBytes = 1 << 20

extension HTTPResponse {
    /// The envelope; nil if the body is the content itself, in a file or as a stream.
    fileprivate func envelope<Envelope: ResponseEnvelope>() async throws -> Envelope? {
        if body.data != nil { return try decoded(as: Envelope.self) }
        guard let file = body.file, let mediaType, ContentTypes.json.contains(mediaType),
            let length = body.length, length <= maximumFileBytes
        else { return nil }
        // A separate reader, so that the body can still be read.
        var copy = self
        copy.body = HTTPBody(try await HTTPBody(file: file).collect(upTo: maximumFileBytes))
        return try? copy.decoded(as: Envelope.self)
    }

    /// The model in an envelope, by the decoder of the request. Throws `decodingFailed`.
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

/// The model of a success, decoded with its envelope in one pass over the body.
private struct EnvelopeContent<Envelope: ResponseEnvelope, Value: Decodable>: Decodable {
    let value: Value

    init(from decoder: any Decoder) throws {
        value = try Envelope(from: decoder).value(Value.self, from: decoder)
    }
}
