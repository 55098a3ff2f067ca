import Errand
import Foundation

/// Encrypts and authenticates bodies.
nonisolated protocol BodySealer: Sendable {
    func seal(_ data: Data) throws -> Data
    /// Throws if the data was sealed with another key, or was changed.
    func open(_ data: Data) throws -> Data
}

/// Encrypts request bodies and decrypts response bodies, for a service that exchanges encrypted JSON:
///
///     filters: [.retry, .cache(store), SealedBodies(sealer: AESGCM(key: key))]
///
/// It runs on the wire, after every other filter. Each attempt is sealed separately, and caches, envelopes and checks
/// see the decrypted content.
struct SealedBodies: Filter {
    let sealer: any BodySealer
    var contentType = "application/octet-stream"

    var stages: FilterStages { .wire }
    var traits: FilterTraits { [.changesRequest, .outsideCacheKey] }
    var explanation: String { "seals bodies" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        if !exchange.http.body.isNone {
            guard let data = exchange.http.body.data else {
                throw ErrandError(.encodingFailed, "only a body in memory can be sealed, not a stream or a file")
            }
            exchange.http.body = .data(try sealer.seal(data), contentType: contentType)
            exchange.http.headers.set(.contentType, contentType)
            exchange.http.headers.remove(.contentLength)
        }
        var response = try await next(exchange)
        guard response.mediaType == contentType, let data = response.body.data, !data.isEmpty else { return response }
        do { response.body = HTTPBody(try sealer.open(data)) } catch {
            throw ErrandError(
                .decodingFailed, "the sealed body can't be decrypted", response: response, underlying: error)
        }
        response.headers.set(.contentType, "application/json")
        response.headers.remove(.contentLength)
        return response
    }
}
