public import Errand
public import ErrandEssentials
import ErrandHTTPFields
public import ErrandKeys

/// Signs requests with HTTP message signatures (RFC 9421).
///
/// ```swift
/// var signer = try HTTPMessageSigner(key: PrivateKey(pem: text), keyID: "app-1")
/// signer.components = [.method, .targetURI, "authorization"]
/// signer.lifetime = .seconds(60)
/// let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.signing(signer)])
/// ```
///
/// A body gets a `Content-Digest`, which the signature covers, unless the request has one already. If a server refuses a
/// request with `Accept-Signature`, the signer covers what it asks for and the request is sent again, once.
public struct HTTPMessageSigner: RequestSigner {
    /// What happens to a body that isn't in memory, such as a file or a stream, if the request has no `Content-Digest`.
    public enum StreamedBody: Sendable, Hashable {
        /// The request throws ``SigningError`` with ``Errand/FailureCode/unknownDigest``.
        case fails
        /// The body is read once for its digest, and again while it's sent. For files, and streams that deliver the same
        /// bytes each time.
        case isReadTwice
        /// The signature doesn't cover the body.
        case isUnsigned
    }

    private let key: any KeySigner
    /// The ID by which the server finds the key.
    public let keyID: String?
    /// The algorithm to sign with. Defaults to the key's preferred one.
    public var algorithm: KeyAlgorithm
    /// The label of the signature in its fields. Defaults to `sig`.
    public var label = "sig"
    /// The components that the signature covers. A request that lacks one of them isn't sent. Defaults to the method
    /// and the URL.
    public var components: [SignatureComponent] = [.method, .targetURI]
    /// Fields that the signature covers if the request has them. Defaults to `Content-Type` and `Content-Digest`.
    public var optionalComponents: [SignatureComponent] = ["content-type", "content-digest"]
    /// The digests of a body's `Content-Digest`; empty to send none. Defaults to SHA-256.
    public var digests: [ContentDigest.Algorithm] = [.sha256]
    /// What happens to a body that isn't in memory. Defaults to ``StreamedBody/fails``.
    public var streamedBody = StreamedBody.fails
    /// How long a signature is valid: the time from `created` to `expires`, in whole seconds. Defaults to nil, which
    /// sends no `expires`.
    public var lifetime: Duration?
    /// Whether each signature has a `nonce`. Defaults to true.
    public var usesNonce = true
    /// Whether the signature names its algorithm. Defaults to false: the server knows it by the key.
    public var namesAlgorithm = false
    /// The `tag` of the application that the signature is for. Defaults to nil, which sends no `tag`.
    public var tag: String?
    /// The types of structured fields that the specifications don't define, for components with `sf`. Empty by default.
    public var fieldTypes: [HTTPHeaderName: SignableMessage.FieldType] = [:]
    private var wanted: AcceptSignature.Entry?

    /// Creates a signer with a key. Throws ``SigningError`` if the key doesn't support any algorithm.
    public init(key: any KeySigner, keyID: String?) throws {
        guard let algorithm = key.algorithms.first else {
            throw SigningError(.algorithmMismatch, "the key doesn't support any algorithm")
        }
        (self.key, self.keyID, self.algorithm) = (key, keyID, algorithm)
    }

    /// The signer's text in `explain`: the scheme and the algorithm.
    public var explanation: String { "HTTP message signature with \(algorithm)" }
    /// The fields that logs may show: the digest of the body.
    public var plainFields: Set<HTTPHeaderName> { [.contentDigest] }
    /// Returns the ID of the key, which tells users apart.
    public func owner() -> String? { keyID }

    /// Adds the digest of the body and the signature to a request.
    public func sign(_ request: inout HTTPRequest, at date: Date) async throws {
        try await addDigest(to: &request)
        var message = SignableMessage(request)
        message.fieldTypes = fieldTypes
        try await add(to: &request.headers, message, at: date)
    }

    /// Adds a signature to the fields of a response, in a server or a test. Add a `Content-Digest` first.
    ///
    /// - Parameters:
    ///   - headers: The fields of the response, which get the signature.
    ///   - message: The response as a message.
    ///   - date: The date of the signature.
    public func sign(_ headers: inout HTTPHeaders, of message: SignableMessage, at date: Date) async throws {
        try await add(to: &headers, message, at: date)
    }

    private func add(to headers: inout HTTPHeaders, _ message: SignableMessage, at date: Date) async throws {
        let input = try input(for: message, at: date)
        let signature = try await key.signature(of: input.signatureBase(of: message), by: algorithm)
        let label = wanted?.label ?? label
        try Self.add(.innerList(input.list), label, to: &headers, .signatureInput)
        try Self.add(.item(.bytes(signature)), label, to: &headers, .signature)
    }

    /// Adds a member to a field that can have members of other signatures.
    private static func add(
        _ member: StructuredField.Member, _ label: String, to headers: inout HTTPHeaders, _ name: HTTPHeaderName
    ) throws {
        var fields = StructuredField.Dictionary()
        if let text = headers[name] {
            guard let known = try? StructuredField.Dictionary(parsing: text) else {
                throw SigningError(.fieldInUse, "the request's \(name) field is malformed")
            }
            fields = known
        }
        guard fields[label] == nil else {
            throw SigningError(.fieldInUse, "the request already has a signature with this label")
        }
        fields[label] = member
        do { headers.set(name, try fields.serialized(), sensitive: true) } catch {
            throw SigningError(.invalidOptions, "the label or a parameter of the signature can't be written: \(error)")
        }
    }

    private func addDigest(to request: inout HTTPRequest) async throws {
        let body = request.body
        if body.isNone || digests.isEmpty { return }
        if let data = body.data {
            // A field of the app may be for other bytes, if a filter has changed the body since.
            let digest = try ContentDigest(of: data, digests)
            if let own = request.headers[.contentDigest], let known = try? ContentDigest(parsing: own),
                try known.matches(data)
            {
                return
            }
            return request.headers.set(.contentDigest, digest.fieldValue)
        }
        if request.headers.contains(.contentDigest) { return }
        switch streamedBody {
        case .isUnsigned: return
        case .isReadTwice where body.isReplayable:
            request.headers.set(.contentDigest, try await BodyDigests.read(body, digests).fieldValue)
        case .isReadTwice:
            throw SigningError(.unknownDigest, "the body can be read only once, so its digest can't be computed first")
        case .fails:
            throw SigningError(
                .unknownDigest,
                "the body isn't in memory; set Content-Digest, or the signer's streamedBody to another value")
        }
    }

    private func input(for message: SignableMessage, at date: Date) throws -> SignatureInput {
        var covered = components
        for component in optionalComponents where !covered.contains(component) {
            do {
                _ = try message.value(of: component)
                covered.append(component)
            } catch let error as SigningError where error.code == .missingComponent {}
        }
        for component in wanted?.components ?? [] where !covered.contains(component) { covered.append(component) }
        let created = Int64(exactly: date.timeIntervalSince1970.rounded(.down)) ?? 0
        var parameters = StructuredField.Parameters()
        parameters["created"] = .integer(created)
        if let lifetime {
            parameters["expires"] = .integer(created + max(0, lifetime.bounded.components.seconds))
        } else if wanted?.wantsExpiry == true {
            parameters["expires"] = .integer(created + 300)
        }
        if let keyID { parameters["keyid"] = .string(keyID) }
        if let nonce = wanted?.nonce {
            parameters["nonce"] = .string(nonce)
        } else if usesNonce {
            parameters["nonce"] = .string(Self.nonce())
        }
        if namesAlgorithm || wanted?.wantsAlgorithm == true { parameters["alg"] = .string(algorithm.httpName) }
        if let tag = wanted?.tag ?? tag { parameters["tag"] = .string(tag) }
        return try SignatureInput(covered, parameters)
    }

    /// 128 random bits.
    private static func nonce() -> String {
        var random = SystemRandomNumberGenerator()
        return Data((0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }).base64EncodedString()
    }

    /// Returns a signer that covers what a refusal's `Accept-Signature` asks for, if it's for this key.
    public func revised(after response: HTTPResponse) throws -> (any RequestSigner)? {
        guard wanted == nil, let text = response.headers[.acceptSignature],
            let accepted = try? AcceptSignature(parsing: text)
        else { return nil }
        // The server can't make the client sign with another key or algorithm, and components of requests only.
        let fitting = accepted.entries.first { entry in
            entry.keyID.map { $0 == keyID } ?? true && entry.algorithm.map { $0 == algorithm.httpName } ?? true
                && entry.components.allSatisfy { !$0.has("req") && $0.name != "@status" }
        }
        guard let fitting else { return nil }
        var revised = self
        revised.wanted = fitting
        return revised
    }
}

extension HTTPMessageSigner: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The scheme and the algorithm, without the key.
    public var description: String { explanation }
    /// The same text as `description`, for debuggers.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
