import Errand
import ErrandHTTPFields
import ErrandMessageSyntax
import ErrandSupport

/// The header fields to store, send and merge (RFC 9111, sections 3.1, 3.2 and 4.3).
enum HTTPCacheHeaders {
    static func storable(_ headers: HTTPHeaders) -> HTTPHeaders {
        let listed = CacheDirectives(headers).unstoredFields + connectionOptions(headers)
        var result = headers
        result.removeAll { field in
            field.isSensitive || unstored.contains(field.name) || field.name == .age
                || listed.contains { ASCII.equalsIgnoringCase($0, field.name.rawName) }
        }
        return result
    }

    /// Returns the stored fields, updated with new fields. Keeps the fields that describe the stored body, because the
    /// body may have been decoded since. Also keeps `Vary`, because the key depends on it.
    static func merged(_ stored: HTTPHeaders, with new: HTTPHeaders) -> HTTPHeaders {
        var update = new
        let listed = connectionOptions(new)
        update.removeAll { field in
            unstored.contains(field.name) || kept.contains(field.name)
                || listed.contains { ASCII.equalsIgnoringCase($0, field.name.rawName) }
        }
        var result = stored
        result.merge(update)
        return result
    }

    static func validating(_ request: HTTPRequest, _ stored: HTTPHeaders) -> HTTPRequest? {
        var request = request
        let tag = stored.first { $0.name == .entityTag && !$0.value.isEmpty }
        let modified = stored.values(of: .lastModified).first
        if let tag {
            var field = HTTPHeaders.Field(.ifNoneMatch, tag.value)
            // Send the tag with the bytes that were received.
            field.isLatin1 = tag.isLatin1
            request.headers.remove(.ifNoneMatch)
            request.headers = HTTPHeaders(request.headers + [field])
        }
        if let modified { request.headers.set(.ifModifiedSince, modified) }
        return tag == nil && modified == nil ? nil : request
    }

    /// Whether a 304 confirms a stored response (section 4.3.4). If the 304 and the stored response have entity tags,
    /// the tags must be equal. Otherwise, if they have modification dates, the dates must be equal.
    ///
    /// - Parameter condition: The request's fields. If the 304 doesn't repeat a stored validator, the request must have
    ///   named only that validator.
    static func confirms(
        _ notModified: HTTPHeaders, _ stored: HTTPHeaders, condition: HTTPHeaders
    ) -> Bool {
        for name: HTTPHeaderName in [.entityTag, .lastModified] {
            guard let old = stored.values(of: name).first, notModified.contains(name) else { continue }
            return notModified.values(of: name).contains { isEqual(name, new: $0, old: old) }
        }
        let tags = condition.values(of: .ifNoneMatch)
        if let tag = stored.values(of: .entityTag).first(where: { !$0.isEmpty }) {
            return tags.count == 1 && isEqual(.entityTag, new: tags[0], old: tag)
        }
        guard tags.isEmpty, let modified = stored.values(of: .lastModified).first else { return false }
        let dates = condition.values(of: .ifModifiedSince)
        return dates.count == 1 && dates[0].hasSameBytes(as: modified)
    }

    /// Whether two heads describe the same representation (section 4.3.5). The validators and the length must be equal.
    static func describesSame(_ head: HTTPHeaders, _ stored: HTTPHeaders) -> Bool {
        let names: [HTTPHeaderName] = [.entityTag, .lastModified, .contentLength]
        return names.allSatisfy { name in
            let old = stored.values(of: name).first
            return head.values(of: name).allSatisfy { new in old.map { new.hasSameBytes(as: $0) } ?? false }
        }
    }

    private static func isEqual(_ name: HTTPHeaderName, new: String, old: String) -> Bool {
        name == .entityTag ? StoredEntityTag(old).matchesWeakly(new) : new.hasSameBytes(as: old)
    }

    private static func connectionOptions(_ headers: HTTPHeaders) -> [String] {
        FieldList.items(headers.values(of: .connection)).map(String.init)
    }

    private static let unstored: Set<HTTPHeaderName> = [
        .connection, "Keep-Alive", .proxyAuthenticate, .proxyAuthenticationInfo, .proxyAuthorization,
        "Proxy-Connection", .te, .trailer, .transferEncoding, .upgrade, "Set-Cookie2",
    ]
    private static let kept: Set<HTTPHeaderName> = [.contentLength, .contentEncoding, .contentRange, .vary]
}

/// Compares the `ETag` of a stored response (RFC 9110, section 8.8.3.2). Some servers send tags without quotes, which
/// are compared as bytes.
struct StoredEntityTag {
    private let text: String
    private let tag: EntityTag?

    init(_ value: String) {
        text = value
        tag = EntityTag(parsing: value)
    }

    func matchesWeakly(_ other: String) -> Bool {
        if let tag, let other = EntityTag(parsing: other) { return tag.matchesWeakly(other) }
        return Self.withoutWeakness(text).elementsEqual(Self.withoutWeakness(other))
    }

    func matchesStrongly(_ other: String) -> Bool {
        if let tag, let other = EntityTag(parsing: other) { return tag.matchesStrongly(other) }
        return text.hasSameBytes(as: other) && !Self.isWeak(text)
    }

    /// Whether a condition such as `If-None-Match` names this tag (section 13.1.2).
    func isNamed(byCondition value: String) -> Bool {
        if let tag { return EntityTagCondition(parsing: value)?.matchesWeakly(tag) ?? false }
        return FieldList.entityTags(value).contains { matchesWeakly(String($0)) }
    }

    private static func isWeak(_ text: String) -> Bool { text.utf8.starts(with: "W/".utf8) }

    private static func withoutWeakness(_ text: String) -> Substring.UTF8View {
        isWeak(text) ? text.utf8.dropFirst(2) : text.utf8[...]
    }
}

/// The request header fields that selected a response (RFC 9111, section 4.1).
struct VaryRule: Sendable, Hashable {
    let names: [String]
    let isStar: Bool

    init(_ headers: HTTPHeaders) {
        guard headers.contains(.vary) else {
            (names, isStar) = ([], false)
            return
        }
        let all = Set(FieldList.items(headers.values(of: .vary)).map { $0.lowercased() })
        isStar = all.contains("*")
        names = all.sorted()
    }

    /// Whether `other` distinguishes all responses that this rule distinguishes.
    func isCovered(by other: VaryRule) -> Bool { !isStar && Set(names).isSubset(of: other.names) }

    /// Returns a field's value for comparison. Combines lines and removes white space around commas (section 4.1).
    static func value(of name: String, in headers: HTTPHeaders) -> String? {
        let values = headers.values(of: HTTPHeaderName(name))
        if values.isEmpty { return nil }
        // Keep empty items, because servers may distinguish them.
        let normal = values.flatMap { FieldList.allItems($0) }.joined(separator: ",")
        return name == "accept-language" || name == "accept-encoding" ? normal.lowercased() : normal
    }
}
