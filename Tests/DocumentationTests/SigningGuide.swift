// The code of docs/signing.md.
import Errand
import ErrandHTTPSyntax
import ErrandSigning
import ErrandSystemTransport
import Foundation

private func everywhere(_ text: String) throws {
    let key = try PrivateKey(pem: text)
    let agent = NetworkAgent(
        baseURL: "https://api.example.com", transport: .system,
        filters: [.signing(try HTTPMessageSigner(key: key, keyID: "app-1"))])
    _ = agent
}

private func messages(_ agent: NetworkAgent, _ key: PrivateKey, _ publicKey: PublicKey) throws {
    var signer = try HTTPMessageSigner(key: key, keyID: "app-1")
    signer.components = [.method, .targetURI, "authorization", .field(.cacheControl).structured]
    signer.digests = [.sha512]
    signer.lifetime = .seconds(60)
    signer.tag = "shop"
    try verified(agent, signer, publicKey)
}

private func verified(_ agent: NetworkAgent, _ signer: HTTPMessageSigner, _ publicKey: PublicKey) throws {
    var requirements = SignatureRequirements(covering: [.status, .method.ofRequest, .targetURI.ofRequest])
    requirements.maximumAge = .seconds(60)
    let verifier = HTTPMessageVerifier(keys: ["server": VerificationKey(publicKey)], requirements: requirements)
    let wanted = try AcceptSignature([.init(label: "sig", components: [.status, "content-digest"], keyID: "server")])

    agent.configure {
        $0.filters = [.signing(signer), .verifyingSignatures(by: verifier, accepting: wanted)]
    }
}

private func digests(_ data: Data) throws {
    let field = try ContentDigest(of: data, [.sha256, .sha512]).fieldValue
    let isIntact = try ContentDigest(parsing: field).matches(data)
    _ = isIntact
}

private func amazon(id: String, secret: String, token: String, photo: URL) async throws {
    let credentials = AWSCredentials(accessKeyID: id, secretAccessKey: secret, sessionToken: token)
    let bucket = NetworkAgent(
        baseURL: "https://photos.s3.eu-central-1.amazonaws.com", transport: .system,
        filters: [.signing(AWSRequestSigner(region: "eu-central-1", service: "s3", credentials: credentials))])
    try await bucket.send(Call<Void>(.put, "sea.jpg", body: .file(photo)))
}

private func presigned(_ credentials: AWSCredentials, _ object: URL) async throws {
    let signer = AWSRequestSigner(region: "eu-central-1", service: "s3", credentials: credentials)
    let request = HTTPRequest(.get, object)
    let link = try await signer.presignedURL(for: request, validFor: .seconds(900))
    _ = link
}

private struct GatewaySigner: RequestSigner {
    let key: HMACKey
    var explanation: String { "the gateway's signature" }
    func owner() async throws -> String? { "app" }

    func sign(_ request: inout HTTPRequest, at date: Date) async throws {
        let message = "\(request.method)\n\(request.urlText)\n\(HTTPDate.format(date))"
        request.headers.set(.date, HTTPDate.format(date))
        request.headers.set("X-Gateway-Signature", try key.signature(of: Data(message.utf8)).base64EncodedString())
    }
}
