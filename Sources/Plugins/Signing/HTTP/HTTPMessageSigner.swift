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
/// The signer adds a `Content-Digest` for the body, and the signature covers this field. If a server refuses a request
/// and its response has an `Accept-Signature`, the request is sent once more. The new signature then covers the
/// components that the server asks for.
public struct HTTPMessageSigner: RequestSigner {
    /// The treatment of a body that isn't in memory, for example a file, if the request doesn't have a
    /// `Content-Digest`.
    public enum StreamedBody: Sendable, Hashable {
        /// Throws ``SigningError`` with ``Errand/FailureCode/unknownDigest``.
        case fails
        /// Reads the body twice: first to compute the digest, and then to send the body. Use it for files, and for
        /// streams that deliver the same bytes each time.
        case isReadTwice
        /// Doesn't cover the body.
        case isUnsigned
    }

    private let key: any KeySigner
    /// The ID under which the server finds the key.
    public let keyID: String?
    /// The algorithm. Defaults to the key's preferred one.
    public var algorithm: KeyAlgorithm
    /// The signature's label. Defaults to `sig`.
    public var label = "sig"
    /// The components to cover. If a request lacks one of them, signing fails. Defaults to the method and the URL.
    public var components: [SignatureComponent] = [.method, .targetURI]
    /// Fields to cover if the request has them. Defaults to `Content-Type` and `Content-Digest`.
    public var optionalComponents: [SignatureComponent] = ["content-type", "content-digest"]
    /// The digests in `Content-Digest`. An empty list omits the field. Defaults to SHA-256.
    public var digests: [ContentDigest.Algorithm] = [.sha256]
    /// The treatment of a body that isn't in memory. Defaults to ``StreamedBody/fails``.
    public var streamedBody = StreamedBody.fails
    /// How long signatures are valid, in whole seconds: the time from `created` to `expires`. Defaults to nil, which
    /// omits `expires`.
    public var lifetime: Duration?
    /// Whether each signature has a `nonce`. Defaults to true.
    public var usesNonce = true
    /// Whether signatures name the algorithm. Defaults to false, because the server usually knows the algorithm from
    /// the key.
    public var namesAlgorithm = false
    /// The application that the signature is for (`tag`). Defaults to nil, which omits the tag.
    public var tag: String?
    /// The structured types of fields that the signer doesn't know, such as your own fields, for components with `sf`.
    /// Defaults to no types.
    public var fieldTypes: [HTTPHeaderName: SignableMessage.FieldType] = [:]
    private var wanted: AcceptSignature.Entry?

    /// Creates a signer. Throws ``SigningError`` if the key doesn't support any algorithm.
    public init(key: any KeySigner, keyID: String?) throws {
        guard let algorithm = key.algorithms.first else {
            throw SigningError(.algorithmMismatch, "the key doesn't support any algorithm")
        }
        (self.key, self.keyID, self.algorithm) = (key, keyID, algorithm)
    }

    /// The scheme and the algorithm.
    public var explanation: String { "HTTP message signature with \(algorithm)" }
    /// `Content-Digest`.
    public var plainFields: Set<HTTPHeaderName> { [.contentDigest] }
    /// Returns the key's ID.
    public func owner() -> String? { keyID }

    /// Adds the body's digest and the signature.
    public func sign(_ request: inout HTTPRequest, at date: Date) async throws {
        try await addDigest(to: &request)
        var message = SignableMessage(request)
        message.fieldTypes = fieldTypes
        try await add(to: &request.headers, message, at: date)
    }

    /// Signs a response, in a server or a test. Add a `Content-Digest` first.
    ///
    /// - Parameters:
    ///   - headers: The response's fields, which receive the signature.
    ///   - message: The response.
    ///   - date: The signature's date.
    public func sign(_ headers: inout HTTPHeaders, of message: SignableMessage, at date: Date) async throws {
        try await add(to: &headers, message, at: date)
    }

    private func add(to headers: inout HTTPHeaders, _ message: SignableMessage, at date: Date) async throws {
        let input = try input(for: message, at: date)
        let signature = try await key.signature(of: input.signatureBase(of: message), by: algorithm)
        let label = wanted?.label ?? label
        try Self.add(.innerList(input.list), label: label, to: &headers, in: .signatureInput)
        try Self.add(.item(.bytes(signature)), label: label, to: &headers, in: .signature)
    }

    private static func add(
        _ member: StructuredField.Member, label: String, to headers: inout HTTPHeaders, in name: HTTPHeaderName
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
            // A filter may have changed the body after the app set the field.
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

    private static func nonce() -> String {
        var random = SystemRandomNumberGenerator()
        return Data((0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }).base64EncodedString()
    }

    /// Returns a signer that covers the components that the response asks for in `Accept-Signature`. Returns nil if the
    /// field asks for another key or algorithm.
    public func revised(after response: HTTPResponse) throws -> (any RequestSigner)? {
        guard wanted == nil, let text = response.headers[.acceptSignature],
            let accepted = try? AcceptSignature(parsing: text)
        else { return nil }
        // The server can't choose another key or algorithm, or ask for components of responses.
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
    /// The scheme and the algorithm.
    public var description: String { explanation }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// An empty mirror that hides secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
