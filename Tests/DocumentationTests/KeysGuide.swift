// The code of docs/keys.md.
import Errand
import ErrandKeys
import Foundation

private func sign(_ text: String, _ message: Data) throws {
    let key = try PrivateKey(pem: text)
    let signature = try key.signature(of: message, by: .ed25519)
    let isValid = try key.publicKey.isValid(signature, of: message, by: .ed25519)
    _ = isValid
}

private func formats() throws {
    let own = try PrivateKey.generate(.p256)
    let stored = own.pem  // a secret
    let published = own.publicKey.jwk  // {"crv":"P-256","kty":"EC","x":"…","y":"…"}
    let thumbprint = try own.publicKey.thumbprint()  // RFC 7638
    _ = (stored, published, thumbprint)
}

private func dated(
    _ request: HTTPRequest, _ clocks: ServerClocks, _ send: (HTTPRequest, Date) async throws -> HTTPResponse
) async throws -> HTTPResponse {
    let signedAt = clocks.date(of: request.url, now: Date())
    let response = try await send(request, signedAt)
    guard response.status == 401,
        clocks.learn(from: response, to: request.url, signedAt: signedAt, now: Date())
    else { return response }
    return try await send(request, clocks.date(of: request.url, now: Date()))
}

private enum Elsewhere {
    final class SigningService: Sendable {
        func sign(_ message: Data) async throws -> Data { message }
    }

    struct RemoteKey: KeySigner {
        let service: SigningService
        var algorithms: [KeyAlgorithm] { [.ecdsaP256SHA256] }

        func signature(of message: Data, by algorithm: KeyAlgorithm) async throws -> Data {
            try await service.sign(message)
        }
    }
}
