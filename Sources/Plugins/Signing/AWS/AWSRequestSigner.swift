public import Errand
public import ErrandEssentials
import ErrandKeys
import ErrandMessageSyntax
import ErrandSupport

/// Signs requests with AWS Signature Version 4, in the `Authorization` field.
///
/// ```swift
/// let credentials = AWSCredentials(accessKeyID: "AKIDEXAMPLE", secretAccessKey: secret)
/// let signer = AWSRequestSigner(region: "eu-central-1", service: "s3", credentials: credentials)
/// let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.signing(signer)])
/// ```
///
/// The signature covers the method, the URL, the body, and all header fields that transports and proxies don't change.
/// If a request already has an `Authorization` field, signing throws ``SigningError``.
public struct AWSRequestSigner: RequestSigner {
    /// How the signature encodes the path.
    public enum PathRules: Sendable, Hashable {
        /// For all services except S3. Removes dot segments and empty segments, and encodes the path twice.
        case general
        /// For S3. Encodes the unchanged path once, and adds `X-Amz-Content-SHA256` to the request.
        case s3
    }

    /// How the signature covers the body.
    public enum Payload: Sendable, Hashable {
        /// Covers the SHA-256 of a body in memory, or the digest in the request's own `X-Amz-Content-SHA256`. For S3,
        /// files and streams of known length are signed chunk by chunk while they're sent. For other services, files
        /// and streams throw ``SigningError``.
        case signed
        /// Like ``signed``, but reads files and streams twice: first to compute the SHA-256, and then to send the body.
        case signedAfterReading
        /// Doesn't cover the body. S3 accepts this over https, but few other services do.
        case unsigned
    }

    /// The AWS region, such as `eu-central-1`.
    public let region: String
    /// The service's name in signatures, such as `s3` or `execute-api`.
    public let service: String
    /// The rules for the path. Defaults to ``PathRules/s3`` for `s3`, `s3express`, `s3-object-lambda` and
    /// `s3-outposts`.
    public var pathRules: PathRules
    /// How the signature covers the body. Defaults to ``Payload/signed``.
    public var payload = Payload.signed
    /// The chunk size in bytes, for bodies signed in chunks. S3 needs at least 8 KiB. Defaults to 64 KiB.
    public var chunkBytes = 64 << 10
    private let provider: @Sendable () async throws -> AWSCredentials

    /// Creates a signer with fixed credentials.
    public init(region: String, service: String, credentials: AWSCredentials) {
        self.init(region: region, service: service) { credentials }
    }

    /// Creates a signer with credentials that change.
    ///
    /// - Parameters:
    ///   - region: The AWS region.
    ///   - service: The service's name in signatures.
    ///   - credentials: Returns the current credentials. The signer calls this closure several times for each request,
    ///     so cache the credentials.
    public init(
        region: String, service: String, credentials: @escaping @Sendable () async throws -> AWSCredentials
    ) {
        (self.region, self.service, provider) = (region, service, credentials)
        pathRules = Self.servicesOfS3.contains(service) ? .s3 : .general
    }

    private static let servicesOfS3: Set = ["s3", "s3express", "s3-object-lambda", "s3-outposts"]
    /// This service refuses signatures that cover the session token.
    private static let serviceWithoutToken = "iotdevicegateway"

    /// The scheme, the service and the region.
    public var explanation: String { "AWS Signature Version 4 for \(service) in \(region)" }
    /// All fields that the signer adds, except the signature and the session token.
    public var plainFields: Set<HTTPHeaderName> {
        [.amzDate, .amzContentSHA256, .amzDecodedContentLength, .contentEncoding, .contentLength]
    }
    /// Returns the current credentials' ``AWSCredentials/owner``.
    public func owner() async throws -> String? { try await provider().owner }

    /// Adds the date, the session token and the signature to a request.
    public func sign(_ request: inout HTTPRequest, at date: Date) async throws {
        let credentials = try await provider()
        guard !request.headers.contains(.authorization) else {
            throw SigningError(.fieldInUse, "the request already has an Authorization field")
        }
        let time = AWSTimestamp(date)
        request.headers.set(.amzDate, time.text)
        if let token = credentials.sessionToken { request.headers.set(.amzSecurityToken, token, sensitive: true) }
        let hash = try await payloadHash(of: &request)
        if pathRules == .s3 || !hash.isDigest { request.headers.set(.amzContentSHA256, hash.text) }
        let canonical = try CanonicalRequest(request, rules: pathRules, payload: hash.text)
        let scope = scope(time)
        let key = try AWSSigningKey(credentials, time, region: region, service: service)
        let signature = try key.signature(of: canonical, time, scope)
        request.headers.set(
            .authorization,
            "AWS4-HMAC-SHA256 Credential=\(credentials.accessKeyID)/\(scope), "
                + "SignedHeaders=\(canonical.signedFields), Signature=\(signature)", sensitive: true)
        if case .chunks = hash {
            let chain = ChunkChain(key: key, time: time, scope: scope, seed: signature)
            request.body = try Self.chunked(request.body, by: chain, chunkBytes)
        }
    }

    /// Returns a presigned URL: a URL that contains a signature. Anyone who has this URL can send the request without
    /// credentials.
    ///
    /// For the service `iotdevicegateway`, the session token follows the signature, as AWS IoT requires.
    ///
    /// - Parameters:
    ///   - request: The request that the URL allows. Send the URL with all header fields of this request, because the
    ///     signature covers them. For services other than S3, the signature also covers the body, which must be in
    ///     memory.
    ///   - lifetime: How long the URL is valid, from one second to seven days.
    ///   - date: The current date.
    public func presignedURL(
        for request: HTTPRequest, validFor lifetime: Duration, at date: Date = Date()
    ) async throws -> URL {
        let seconds = lifetime.bounded.components.seconds
        guard (1...604_800).contains(seconds) else {
            throw SigningError(.invalidOptions, "a presigned URL's lifetime must be one second to seven days")
        }
        guard !request.headers.contains(.authorization) else {
            throw SigningError(.fieldInUse, "the request already has an Authorization field")
        }
        let credentials = try await provider()
        let time = AWSTimestamp(date)
        let scope = scope(time)
        var request = request
        let fields = try CanonicalRequest(request, rules: pathRules, payload: "").signedFields
        var items = [
            ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"), ("X-Amz-Credential", "\(credentials.accessKeyID)/\(scope)"),
            ("X-Amz-Date", time.text), ("X-Amz-Expires", "\(seconds)"), ("X-Amz-SignedHeaders", fields),
        ]
        let token = credentials.sessionToken.map { ("X-Amz-Security-Token", $0) }
        let isTokenSigned = service != Self.serviceWithoutToken
        if let token, isTokenSigned { items.append(token) }
        func query(_ items: [(String, String)]) -> String {
            items.map { "\($0)=\(PercentEncoding.encode($1))" }.joined(separator: "&")
        }
        var url = String(request.urlText.prefix { $0 != "#" })
        url += url.contains("?") ? url.hasSuffix("?") ? "" : "&" : "?"
        url += query(items)
        request.url = try Self.url(url)
        let hash: PayloadHash =
            pathRules == .s3 || payload == .unsigned ? .unsigned : try await payloadHash(of: &request)
        let canonical = try CanonicalRequest(request, rules: pathRules, payload: hash.text)
        let key = try AWSSigningKey(credentials, time, region: region, service: service)
        let last = [("X-Amz-Signature", try key.signature(of: canonical, time, scope))]
        return try Self.url("\(url)&\(query(last + (isTokenSigned ? [] : [token].compactMap(\.self))))")
    }

    private static func url(_ text: String) throws -> URL {
        guard (try? URLSyntax.check(text)) != nil, let url = URL(string: text) else {
            throw SigningError(.invalidValue, "the request's URL is invalid")
        }
        return url
    }

    private func scope(_ time: AWSTimestamp) -> String { "\(time.day)/\(region)/\(service)/aws4_request" }

    // MARK: The body

    enum PayloadHash {
        case digest(String)
        case chunks
        case unsigned

        var text: String {
            switch self {
            case .digest(let text): text
            case .chunks: "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
            case .unsigned: "UNSIGNED-PAYLOAD"
            }
        }

        var isDigest: Bool { if case .digest = self { true } else { false } }
    }

    private func payloadHash(of request: inout HTTPRequest) async throws -> PayloadHash {
        let body = request.body
        if payload == .unsigned { return .unsigned }
        if let data = body.data { return .digest(try AWSSigningKey.digest(data)) }
        if let known = request.headers[.amzContentSHA256], Hexadecimal.bytes(known)?.count == 32 {
            return .digest(known.lowercased())
        }
        if payload == .signedAfterReading {
            guard body.isReplayable else {
                throw SigningError(
                    .unknownDigest, "the body can be read only once, so its SHA-256 can't be computed first")
            }
            let digest = try await BodyDigests.read(body, [.sha256])
            return .digest(Hexadecimal.text(Array(digest.entries[0].bytes)))
        }
        guard pathRules == .s3 else {
            throw SigningError(
                .unknownDigest,
                "the body isn't in memory; set X-Amz-Content-SHA256, or the signer's payload to another value")
        }
        return try prepareChunks(of: &request)
    }

    private func prepareChunks(of request: inout HTTPRequest) throws -> PayloadHash {
        guard let length = request.body.length else {
            throw SigningError(.unknownLength, "a body that's signed in chunks must have a known length")
        }
        guard (8 << 10...1 << 30).contains(chunkBytes) else {
            throw SigningError(.invalidOptions, "a chunk must have 8 KiB to 1 GiB")
        }
        let coding = request.headers[.contentEncoding].map { "aws-chunked,\($0)" } ?? "aws-chunked"
        request.headers.set(.contentEncoding, coding)
        request.headers.set(.amzDecodedContentLength, "\(length)")
        request.headers.set(.contentLength, "\(ChunkSigner.encodedLength(of: length, chunkBytes))")
        return .chunks
    }

    private static func chunked(
        _ body: RequestBody, by chain: ChunkChain, _ chunkBytes: Int
    ) throws -> RequestBody {
        let length = body.length.map { ChunkSigner.encodedLength(of: $0, chunkBytes) }
        if body.isReplayable {
            return .stream(length: length, contentType: body.contentType) {
                HTTPBody(length: length, source: ChunkSigner(chain, chunkBytes: chunkBytes, body: try body.open()))
            }
        }
        return .stream(
            HTTPBody(length: length, source: ChunkSigner(chain, chunkBytes: chunkBytes, body: try body.open())),
            contentType: body.contentType)
    }
}

extension AWSRequestSigner: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The scheme, the service and the region.
    public var description: String { explanation }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// An empty mirror that hides the credentials.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPHeaderName {
    static var amzContentSHA256: HTTPHeaderName { "X-Amz-Content-SHA256" }
    static var amzDate: HTTPHeaderName { "X-Amz-Date" }
    static var amzDecodedContentLength: HTTPHeaderName { "X-Amz-Decoded-Content-Length" }
    static var amzSecurityToken: HTTPHeaderName { "X-Amz-Security-Token" }
}
