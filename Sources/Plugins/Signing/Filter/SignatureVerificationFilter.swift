public import Errand
import ErrandEssentials
import ErrandKeys
import ErrandMessageSyntax

/// Verifies the signature of each response. Create it with `.verifyingSignatures`.
///
/// If a response doesn't have a valid signature, the request throws ``SigningError``. The filter verifies the signature
/// when the response's head arrives. The digest of a streamed body is verified at the end of the body. If it doesn't
/// match, reading the body throws.
///
/// List this filter right after `.signing`, so a response's signature can cover the request's signature. The filter
/// asks for responses without a content coding, because `Content-Digest` covers the encoded bytes, which the filter
/// doesn't see.
public struct SignatureVerificationFilter: Filter {
    private let verifier: HTTPMessageVerifier
    private let wanted: AcceptSignature?
    private let origins: TrustedOrigins?

    init(_ verifier: HTTPMessageVerifier, wanted: AcceptSignature?, origins: TrustedOrigins?) {
        (self.verifier, self.wanted, self.origins) = (verifier, wanted, origins)
    }

    /// `.call` asks for signatures, and `.wire` verifies them.
    public var stages: FilterStages { [.call, .wire] }
    /// The filter's line in `agent.explain`.
    public var explanation: String { "verifies the signatures of responses" }

    /// Verifies the response. Throws ``SigningError`` if its signature isn't valid.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        if exchange.stage == .call { return try await next(asking(exchange)) }
        let response = try await next(exchange)
        guard origins?.contains(exchange.http.url) ?? exchange.isTrusted else { return response }
        do { return try await verified(response, exchange) } catch {
            response.body.cancel()
            throw Self.with(response, error)
        }
    }

    private func asking(_ exchange: Exchange) -> Exchange {
        var exchange = exchange
        if !exchange.http.headers.contains(.acceptEncoding) { exchange.http.headers[.acceptEncoding] = "identity" }
        if let wanted, !exchange.http.headers.contains(.acceptSignature) {
            exchange.http.headers[.acceptSignature] = wanted.fieldValue
        }
        return exchange
    }

    private func verified(_ response: HTTPResponse, _ exchange: Exchange) async throws -> HTTPResponse {
        let message = SignableMessage(response, to: exchange.http)
        let isBodiless = exchange.http.method == .head || [204, 304].contains(response.status)
        let hasContent =
            isBodiless ? false : response.body.data.map { !$0.isEmpty } ?? (response.body.length.map { $0 > 0 })
        _ = try await verifier.verifyHead(of: message, at: exchange.time.date, hasContent: hasContent)
        guard verifier.coversContent, hasContent != false else { return response }
        let expected = try verifier.digest(of: message)
        if let data = response.body.data {
            guard try expected.matches(data) else { throw HTTPMessageVerifier.mismatch }
            return response
        }
        var response = response
        response.body = HTTPBody(length: response.body.length, source: try VerifiedSource(response.body, expected))
        return response
    }

    private static func with(_ response: HTTPResponse, _ error: any Error) -> any Error {
        guard var error = error as? SigningError else { return error }
        var response = response
        if response.body.data == nil { response.body = .empty }
        error.response = response
        return error
    }
}

final class VerifiedSource: HTTPBodySource {
    private let chunks: BodyChunks
    private let digests: BodyDigests
    private let expected: ContentDigest

    init(_ body: HTTPBody, _ expected: ContentDigest) throws {
        (chunks, self.expected) = (BodyChunks(body), expected)
        digests = try BodyDigests(expected.entries.map(\.algorithm))
    }

    func nextChunk() async throws -> Data? {
        if let chunk = try await chunks.next() {
            try digests.update(chunk)
            return chunk
        }
        guard try digests.finalize() == expected else { throw HTTPMessageVerifier.mismatch }
        return nil
    }

    func cancel() { chunks.cancel() }
}

extension Filter where Self == SignatureVerificationFilter {
    /// Creates a filter that verifies the signature of each response.
    ///
    /// - Parameters:
    ///   - verifier: Verifies the signatures, with your keys and requirements.
    ///   - wanted: The signatures to ask for in `Accept-Signature`, unless the request has its own field. Defaults to
    ///     nil, which omits the field.
    ///   - origins: The origins whose responses are verified. Defaults to nil, which means the agent's trusted origins.
    public static func verifyingSignatures(
        by verifier: HTTPMessageVerifier, accepting wanted: AcceptSignature? = nil, origins: TrustedOrigins? = nil
    ) -> SignatureVerificationFilter { SignatureVerificationFilter(verifier, wanted: wanted, origins: origins) }
}
