import ErrandEssentials
public import ErrandHTTP
import ErrandHTTPFields
import ErrandMessageSyntax

/// A request or a response to sign or verify.
public struct SignableMessage: Sendable {
    /// The type of a structured field, for the component parameter `sf`.
    public enum FieldType: Sendable, Hashable {
        /// The field is a list.
        case list
        /// The field is a dictionary.
        case dictionary
        /// The field is a single item.
        case item
    }

    private enum Start: Sendable {
        case request(method: HTTPMethod, url: String)
        case response(status: Int)
    }

    private let start: Start
    /// The header fields of the message.
    public var headers: HTTPHeaders
    /// The trailer fields of the message. Defaults to no fields.
    public var trailers: HTTPHeaders = [:]
    /// The target in the request line. Set it if it isn't the URL's path and query: an absolute URL for a proxy, a host
    /// with a port, or `*`. Defaults to nil.
    public var requestTarget: String?
    /// The structured types of fields that the signer doesn't know, such as your own fields. Defaults to no fields.
    public var fieldTypes: [HTTPHeaderName: FieldType] = [:]
    var content: Data?
    private let related: [SignableMessage]

    /// Creates a message from a request.
    public init(_ request: HTTPRequest) {
        start = .request(method: request.method, url: request.urlText)
        (headers, related, content) = (request.headers, [], request.body.data)
        // The transport adds these fields only after the signature.
        if !headers.contains(.contentType), let type = request.body.contentType, !request.body.isNone {
            headers.add(.contentType, type)
        }
        if !headers.contains(.contentLength), let length = request.body.length, !request.body.isNone {
            headers.add(.contentLength, "\(length)")
        }
    }

    /// Creates a message from a response and the request that it answers.
    public init(_ response: HTTPResponse, to request: HTTPRequest?) {
        start = .response(status: response.status)
        (headers, content) = (response.headers, response.body.data)
        related = request.map { [SignableMessage($0)] } ?? []
    }

    var request: SignableMessage? { related.first }

    var isResponse: Bool { if case .response = start { true } else { false } }

    // MARK: Values

    /// Returns the value of a component (RFC 9421, sections 2.1 and 2.2). Throws ``SigningError``.
    public func value(of component: SignatureComponent) throws -> String {
        try component.validate()
        var message = self
        if component.has("req") {
            guard isResponse, let request else {
                throw SigningError(
                    .missingComponent, "\(component) needs the response's request; create the message with it")
            }
            message = request
            message.fieldTypes = fieldTypes
        }
        let value = component.isDerived ? try message.derived(component) : try message.field(component)
        // Other characters could add lines to the signature base.
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F || $0 == 0x09 && !component.isDerived }) else {
            throw SigningError(
                .invalidValue,
                "the value of \(component) isn't printable ASCII; sign the field's `binary` component instead")
        }
        return value
    }

    private func derived(_ component: SignatureComponent) throws -> String {
        guard case .request(let method, let url) = start else {
            guard component.name == "@status", case .response(let status) = start else {
                throw SigningError(
                    .missingComponent,
                    "\(component) describes a request; to use it in a response's signature, add the parameter `req`")
            }
            return "\(status)"
        }
        let target = try RequestURLParts(url, host: headers.values(of: .host))
        switch component.name {
        case "@method":
            guard HTTPHeaderName(method.rawValue).isValid else {
                throw SigningError(.invalidValue, "the method has a character that methods can't have")
            }
            return method.rawValue
        case "@target-uri": return "\(target.scheme)://\(target.authority)\(target.path)\(target.queryText)"
        case "@authority": return target.authority
        case "@scheme": return target.scheme
        case "@path": return target.path
        case "@query": return target.queryText.isEmpty ? "?" : target.queryText
        case "@request-target":
            if let requestTarget { return requestTarget }
            return method.rawValue == "CONNECT" ? target.authority : target.path + target.queryText
        case "@query-param":
            return try target.parameter(component.parameters["name"]?.text ?? "", component)
        default: throw SigningError(.missingComponent, "\(component) exists only in responses")
        }
    }

    private func field(_ component: SignatureComponent) throws -> String {
        let name = HTTPHeaderName(component.name)
        let fields = (component.has("tr") ? trailers : headers).filter { $0.name == name }
        guard !fields.isEmpty else {
            throw SigningError(.missingComponent, "\(component): the message has no such field")
        }
        if component.has("bs") { return try Self.binary(fields) }
        guard name != .setCookie || fields.count == 1 else {
            throw SigningError(
                .invalidValue, "\(component): the field has several lines; sign its `binary` component instead")
        }
        let value = fields.map { String(ASCII.trimmed(Substring($0.value))) }.joined(separator: ", ")
        if let key = component.parameters["key"]?.text { return try Self.member(key, of: value, component) }
        if component.has("sf") { return try strict(value, name: name, component: component) }
        return value
    }

    private static func binary(_ fields: [HTTPHeaders.Field]) throws -> String {
        try fields.map { field in
            let text = ASCII.trimmed(Substring(field.value))
            let bytes =
                field.isLatin1 ? text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } : Array(text.utf8)
            return try StructuredField.BareItem.bytes(Data(bytes)).serialized()
        }.joined(separator: ", ")
    }

    private static func member(
        _ key: String, of value: String, _ component: SignatureComponent
    ) throws -> String {
        guard let dictionary = try? StructuredField.Dictionary(parsing: value) else {
            throw SigningError(.invalidValue, "\(component): the field isn't a dictionary")
        }
        switch dictionary[key] {
        case .item(let item)?: return try item.serialized()
        case .innerList(let list)?: return try list.serialized()
        case nil: throw SigningError(.missingComponent, "\(component): the dictionary has no such member")
        }
    }

    private func strict(
        _ value: String, name: HTTPHeaderName, component: SignatureComponent
    ) throws -> String {
        guard let type = fieldTypes[name] ?? Self.knownTypes[name] else {
            throw SigningError(
                .invalidComponent, "\(component): the field's structured type is unknown; add it to `fieldTypes`")
        }
        do {
            return switch type {
            case .list: try StructuredField.List(parsing: value).serialized()
            case .dictionary: try StructuredField.Dictionary(parsing: value).serialized()
            case .item: try StructuredField.Item(parsing: value).serialized()
            }
        } catch {
            throw SigningError(.invalidValue, "\(component): the field isn't a valid structured field of its type")
        }
    }

    /// Includes older fields with the same syntax (draft-ietf-httpbis-retrofit).
    private static let knownTypes: [HTTPHeaderName: FieldType] = [
        .accept: .list, .acceptEncoding: .list, .acceptLanguage: .list, .acceptRanges: .list,
        .acceptSignature: .dictionary,
        .allow: .list, .altSvc: .dictionary, .cacheControl: .dictionary, "Cache-Status": .list,
        "CDN-Cache-Control": .dictionary, "Client-Cert": .item, "Client-Cert-Chain": .list, .connection: .list,
        .contentDigest: .dictionary, .contentEncoding: .list, .contentLanguage: .list, .contentLength: .item,
        .contentType: .item, .expect: .dictionary, .idempotencyKey: .item, .pragma: .dictionary,
        "Prefer": .dictionary, "Preference-Applied": .dictionary, "Priority": .dictionary, "Proxy-Status": .list,
        .rateLimit: .list, .rateLimitPolicy: .list, .reprDigest: .dictionary, .retryAfter: .item,
        .signature: .dictionary, .signatureInput: .dictionary, .te: .list, .trailer: .list, .vary: .list,
        .wantContentDigest: .dictionary, .wantReprDigest: .dictionary,
    ]

    /// If the `Host` field and the URL name different hosts, a server could trust one while the signature covers the
    /// other.
    func checkHost() throws {
        guard case .request(_, let url) = start else { return try request?.checkHost() ?? () }
        let byField = try RequestURLParts(url, host: headers.values(of: .host))
        let byURL = try RequestURLParts(url, host: [])
        // Other senders may write an address in another form than the URL's.
        guard HostName.sentAuthority(byField.authority) == byURL.authority else {
            throw SigningError(.invalidValue, "the request's Host field and its URL name different hosts")
        }
    }
}

struct RequestURLParts {
    let scheme: String
    /// In lower case, without the scheme's default port.
    let authority: String
    let path: String
    let query: Substring?

    /// - Parameter host: The values of the `Host` field, which takes precedence over the URL's host.
    init(_ url: String, host: [String]) throws {
        guard let end = try? URLSyntax.check(url), let colon = url.firstIndex(of: ":") else {
            throw SigningError(.invalidValue, "the request's URL is invalid")
        }
        scheme = SignatureComponent.lowercased(String(url[..<colon]))
        let authorityEnd = url.utf8.index(url.startIndex, offsetBy: end)
        let rest = url[authorityEnd...].prefix { $0 != "#" }
        let mark = rest.firstIndex(of: "?")
        let path = rest[..<(mark ?? rest.endIndex)]
        self.path = path.isEmpty ? "/" : String(path)
        query = mark.map { rest[rest.index(after: $0)...] }
        guard host.count <= 1 else { throw SigningError(.invalidValue, "the request has several Host fields") }
        let own = HostName.sentAuthority(String(url[url.utf8.index(colon, offsetBy: 3)..<authorityEnd]))
        var text = SignatureComponent.lowercased(host.first ?? own)
        let port = scheme == "https" ? ":443" : ":80"
        if text.hasSuffix(port) { text.removeLast(port.count) }
        if text.hasSuffix(":") { text.removeLast() }
        authority = text
    }

    var queryText: String { query.map { "?\($0)" } ?? "" }

    func parameter(_ name: String, _ component: SignatureComponent) throws -> String {
        var found: String?
        for pair in (query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard Self.encoded(parts[0]) == name else { continue }
            guard found == nil else {
                throw SigningError(.invalidComponent, "\(component): the parameter occurs several times")
            }
            found = parts.count > 1 ? Self.encoded(parts[1]) : ""
        }
        guard let found else { throw SigningError(.missingComponent, "\(component): the query has no such parameter") }
        return found
    }

    private static func encoded(_ text: Substring) -> String {
        SignatureComponent.encodedParameter(PercentEncoding.decodeLeniently(text, plusIsSpace: true))
    }
}

extension SignableMessage: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The method or the status. URLs, fields and content may be secret.
    public var description: String {
        switch start {
        case .request(let method, _):
            "a \(HTTPHeaderName(method.rawValue).isValid ? method.rawValue : "malformed") request"
        case .response(let status): "a response with status \(status)"
        }
    }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// An empty mirror that hides secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
